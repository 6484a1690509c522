"""One fingerprint of everything that a decision was made from."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime

from bot.domain.base import Model
from bot.domain.market import Market
from bot.domain.request import Request
from bot.domain.rules import Rules
from bot.domain.values import utc_text


def digest(request: Request, market: Market, rules: Rules, *, now: datetime, zone: str) -> str:
    """Return the sha256 of the canonical request, clock, zone, rules and sorted market."""
    asked = request.model_dump(mode="json")
    asked["regions"] = sorted(request.regions)
    parts = [
        json.dumps(asked, sort_keys=True, ensure_ascii=False),
        json.dumps({"now": utc_text(now), "zone": zone, "as_of": utc_text(market.as_of)}),
        json.dumps(rules.model_dump(mode="json"), sort_keys=True, ensure_ascii=False),
        *_sorted_rows("offerings", market.offerings),
        *_sorted_rows("hourly", market.hourly),
        *_sorted_rows("owned", market.owned),
        *_sorted_rows("quotas", market.quotas),
        *_sorted_rows("not_read", market.not_read),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _sorted_rows(name: str, rows: Iterable[Model]) -> list[str]:
    return [name, *sorted(row.model_dump_json() for row in rows)]
