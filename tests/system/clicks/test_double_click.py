"""One approver clicks twice, a second apart; the clicks reach two bots on one database.

Seen with other approval bots: each worker's own guard in memory lets its click through, and the
thread gets a red line and a green one (fivexl/terraform-aws-sso-elevator#212).
"""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.demo import Journey
from sandbox.telling import APPROVALS, BRUNO, Conversation
from tests.system.chaos.world import place

pytestmark = pytest.mark.system
BUYING_SECONDS = 5
APART_SECONDS = 1.0
APPROVE = "gpu.approve"


def test_a_second_click_on_another_bot_while_the_purchase_runs_buys_once_and_says_no_error(
    tmp_path: Path,
) -> None:
    with place(tmp_path, 7) as town:
        town.start_second()
        surface = town.surface
        journey = Journey(surface, Conversation(surface, lambda _: None))
        journey.ask()

        def card() -> str | None:
            """Return the approval card, while it shows the button."""
            for message in surface.get(f"/control/slack/messages?channel={APPROVALS}"):
                if APPROVE in json.dumps(message["blocks"]) and not message["deleted"]:
                    return str(message["ts"])
            return None

        def click(ts: str) -> str:
            answer = surface.post(
                "/control/slack/click",
                user=BRUNO,
                channel=APPROVALS,
                ts=ts,
                action_id=APPROVE,
                stale=True,
            )
            return str(answer["status"])

        ts = town.until(card, "the approval card")
        town.rest()
        surface.post(
            "/control/aws/fault", operation="PurchaseCapacityBlock", fault=f"slow:{BUYING_SECONDS}"
        )
        begun = time.monotonic()
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(click, ts)
            time.sleep(max(APART_SECONDS - (time.monotonic() - begun), 0))
            assert click(ts) == "ok"
            assert first.result() == "ok"
        town.until(lambda: card() is None, "the button to be gone", BUYING_SECONDS)
        assert town.rows("select state from purchase") == [("submitted",)]
        town.rest()

        assert town.rows("select count(*) from purchase where state = 'confirmed'") == [(1,)]
        sales = surface.get("/control/aws/calls?operation=PurchaseCapacityBlock")
        real = [one for one in sales if one["outcome"] != "DryRunOperation"]
        assert len(real) == 1
        assert town.rows("select count(*) from approval") == [(1,)]
        clicks = town.rows("select outcome from inbox where kind = 'action' order by id")[-2:]
        assert clicks == [("done",), ("refused",)]
        words = " ".join(one.text for one in journey.talk.messages()).lower()
        assert "went wrong" not in words
        assert ":x:" not in words
        assert "failed" not in words
