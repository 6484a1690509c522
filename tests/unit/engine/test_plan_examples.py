"""Every line of the contract's plan examples, decided from the request that it means."""

import json
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.catalog import packaged
from bot.domain.decision import Decision, Option
from bot.domain.market import Market
from bot.domain.request import Request, Target
from bot.domain.rules import Rules
from bot.domain.values import cents
from bot.engine import decide

EXAMPLES = Path(__file__).parents[2] / "data" / "plan" / "examples.jsonl"
LINES = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
TABLE = frozenset(
    [
        "not_cancellable",
        "ends_1130_utc",
        "early_termination",
        "shorter_than_asked",
        "longer_than_asked",
        "more_machines_than_asked",
        "fewer_machines_than_asked",
        "gap_between_segments",
        "price_stale",
        "local_zone",
        "payment_pending_first",
        "below_break_even",
        "target_is_final",
        "refused_before",
        "score_low",
        "quota_unknown",
        "not_guaranteed",
        "joined",
        "starts_later",
        "owner_must_agree",
    ]
)
UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def rules_of(config: str | None) -> Rules:
    """The engine's part of a configuration file."""
    if config is None:
        return Rules()
    file = yaml.safe_load(config)
    values: dict[str, Any] = {}
    for key, value in (file.get("decision") or {}).items():
        if isinstance(value, str) and value[-1] in UNITS:
            values[key] = timedelta(**{UNITS[value[-1]]: int(value[:-1])})
        elif isinstance(value, dict):
            values[key] = {name: str(share) for name, share in value.items()}
        else:
            values[key] = value
    if "kinds" in file:
        values["kinds"] = file["kinds"]
    if "default_target" in file:
        values["default_target"] = Target(file["default_target"])
    if "accounts" in file:
        values["regions"] = {entry["name"]: tuple(entry["regions"]) for entry in file["accounts"]}
    return Rules.model_validate(values, strict=False)


def decided(line: dict[str, Any]) -> Decision:
    return decide(
        Request.model_validate_json(json.dumps(line["request"])),
        Market.model_validate_json(json.dumps(line["market"])),
        rules_of(line["config"]),
        now=datetime.fromisoformat(line["now"]),
        zone=line["tz"],
        catalog=packaged(),
    )


def name(option: Option) -> str:
    return "+".join(option.refs)


def same(key: str, printed: Any, expected: Any, *, hourly: bool) -> bool:
    if key == "total_usd" and hourly:  # the contract rounds these half up to the cent
        return Decimal(printed) == cents(Decimal(expected))
    return bool(printed == expected)


@pytest.mark.parametrize("line", LINES, ids=[line["id"] for line in LINES])
def test_an_example_of_the_contract_is_decided_as_it_says(line: dict[str, Any]) -> None:
    decision, expect = decided(line), line["expect"]
    options = {name(option): option for option in decision.options}
    assert list(options) == expect["order"]
    assert (name(decision.pick) if decision.pick else None) == expect["recommended"]
    entries = {}
    for key, option in options.items():
        for ref in option.refs:
            entries[ref] = f"join:{key}" if len(option.refs) > 1 else "option"
    for row in decision.rejected:
        for ref in row.refs:
            assert ref not in entries
            entries[ref] = row.reason.code
    assert entries == expect["entries"]
    for key, facts in expect["facts"].items():
        printed = json.loads(options[key].model_dump_json())
        codes = {note["code"] for note in printed["warnings"]}
        for fact, value in facts.items():
            if fact not in {"warnings", "may_warn"}:
                hourly = printed["paid"] == "hourly"
                assert same(fact, printed[fact], value, hourly=hourly), (key, fact, printed[fact])
        assert set(facts["warnings"]) <= codes
        assert codes & TABLE <= set(facts["warnings"]) | set(facts["may_warn"])
    advised = {note.code for note in decision.advice}
    assert set(expect["advice"]) <= advised
    assert advised <= set(expect["advice"]) | set(expect["may_advise"])
