"""`gpubot plan`: what it answers, and what it says of files that it cannot use."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bot.domain.errors import SettingsError
from bot.domain.market import Kind, Market
from bot.domain.request import Target
from bot.planning import planned
from bot.settings import EXAMPLE
from tests.unit.engine.markets import NOW, block, market_of, on_demand, owned, quota, spot

TEXT = "2 p5.48xlarge for 24h"


@pytest.fixture
def market(tmp_path: Path) -> Path:
    path = tmp_path / "market.json"
    rows = market_of(block(), on_demand(), spot())
    path.write_text(rows.model_dump_json(), encoding="utf-8")
    return path


def answer(
    text: str,
    market: Path,
    *,
    save_market: Path | None = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    return planned(
        text,
        market=market,
        save_market=save_market,
        now=now,
        tz="UTC",
        locale="en-US",
        config=None,
    )


def said(market: Path, rows: dict[str, Any]) -> str:
    market.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        answer(TEXT, market)
    return str(caught.value)


def test_a_request_is_decided_at_the_recorded_instant(market: Path) -> None:
    found = answer(TEXT, market)
    assert (found["status"], found["problem"]) == ("ok", None)
    assert found["decision"]["recommended"] == 1
    assert found["decision"]["options"][0]["segments"][0]["start"] == "2027-03-10T15:00:00Z"
    assert found == answer(TEXT, market, now=NOW)


@pytest.mark.parametrize("text", ["status gpu-3", "market p5.48xlarge", "help", "market"])
def test_a_verb_that_asks_for_no_machines_is_refused(market: Path, text: str) -> None:
    found = answer(text, market)
    assert (found["status"], found["request"], found["decision"]) == ("refused", None, None)
    assert text.split(maxsplit=1)[0] in found["problem"]["message"]
    assert answer(found["problem"]["hint"], market)["status"] == "ok"


def test_what_the_language_refuses_keeps_its_own_words(market: Path) -> None:
    found = answer("2 p5.48xlrage for 24h", market)
    assert (found["status"], found["decision"]) == ("refused", None)
    assert "p5.48xlarge" in found["problem"]["message"]


def test_what_must_be_asked_is_not_decided(market: Path) -> None:
    found = answer("2 p5.48xlarge", market)
    assert (found["status"], found["decision"]) == ("ask", None)
    assert [question["field"] for question in found["questions"]] == ["duration_hours"]


def test_a_saved_market_gives_the_same_answer(market: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    first = answer(TEXT, market, save_market=saved)
    assert answer(TEXT, saved) == first


def test_rows_in_another_order_give_the_same_bytes(market: Path) -> None:
    first = json.dumps(answer(TEXT, market))
    rows = json.loads(market.read_text(encoding="utf-8"))
    rows["hourly"].reverse()
    market.write_text(json.dumps(rows), encoding="utf-8")
    assert json.dumps(answer(TEXT, market)) == first


def test_a_market_that_cannot_be_saved_is_said(market: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be written"):
        answer(TEXT, market, save_market=tmp_path / "nowhere" / "saved.json")


def test_a_missing_market_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        answer(TEXT, tmp_path / "none.json")


def test_a_fault_of_the_market_file_names_its_place(market: Path) -> None:
    rows = json.loads(market.read_text(encoding="utf-8"))
    row = rows["offerings"][0]
    assert "offerings.0.flavour is no key" in said(
        market, {**rows, "offerings": [{**row, "flavour": "x"}]}
    )
    nameless = {key: value for key, value in row.items() if key != "ref"}
    assert "offerings.0.ref is missing" in said(market, {**rows, "offerings": [nameless]})
    assert "as_of: " in said(market, {**rows, "as_of": "2027-03-10T15:00:00"})


def test_text_that_is_no_json_is_said(market: Path) -> None:
    market.write_text("{", encoding="utf-8")
    with pytest.raises(SettingsError, match="the file: Invalid JSON"):
        answer(TEXT, market)


def test_what_a_market_file_leaves_out_is_not_known(market: Path) -> None:
    whole = market_of(
        block(zone_id=None, zone_type=None), on_demand(zone=None), spot(), owned(), quota(9999)
    ).model_dump(mode="json")
    bare = {
        name: [
            {key: value for key, value in row.items() if value not in (None, [])} for row in rows
        ]
        for name, rows in whole.items()
        if name != "as_of"
    }
    market.write_text(json.dumps({"as_of": whole["as_of"], **bare}), encoding="utf-8")
    sparse = answer(TEXT, market)
    market.write_text(json.dumps(whole), encoding="utf-8")
    assert sparse == answer(TEXT, market)


def test_the_live_market_is_read_for_the_kinds_and_the_target_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    class Reader:
        def __init__(self, _accounts: object, **wishes: Any) -> None:
            asked.update(wishes)

        def read(self, _request: object) -> Market:
            return market_of(block())

    monkeypatch.setattr("bot.aws.AwsMarket", Reader)
    path = tmp_path / "gpubot.yaml"
    path.write_text("kinds: [training_plan]\ndefault_target: training-job\n" + _without(EXAMPLE))
    planned(TEXT, market=None, save_market=None, now=NOW, tz="UTC", locale="en-US", config=path)
    assert asked["kinds"] == (Kind.TRAINING_PLAN,)
    assert asked["default_target"] is Target.TRAINING_JOB


def _without(example: str) -> str:
    """Return the example file without the two keys that the test sets."""
    lines = example.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(("kinds:", "default_target:")))


@pytest.mark.parametrize(
    "instant", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00Z"]
)
def test_a_time_that_no_calendar_has_is_said_and_not_stumbled_over(
    market: Path, instant: str
) -> None:
    rows = json.loads(market.read_text(encoding="utf-8"))
    rows["offerings"][0]["segments"][0]["end"] = instant
    assert said(market, rows).startswith(f"{market}: offerings.0.segments.0.end: ")


@pytest.mark.parametrize("end", ["9999-12-31T23:59:59Z", None])
def test_an_odcr_without_a_sensible_end_is_decided_on(market: Path, end: str | None) -> None:
    mine = owned(kind=Kind.ODCR).model_dump(mode="json") | {"end": end}
    late = mine | {"ref": "late", "start": "9999-12-31T00:00:00Z"}
    rows = market_of().model_dump(mode="json") | {"owned": [mine, late]}
    market.write_text(json.dumps(rows), encoding="utf-8")
    decision = answer(TEXT, market)["decision"]
    assert decision["options"][0]["refs"] == ["cr-a"]


def test_a_market_of_a_time_without_a_future_is_refused(market: Path) -> None:
    rows = json.loads(market.read_text(encoding="utf-8")) | {"as_of": "9999-12-31T00:00:00Z"}
    assert "as_of: no market was read in the year 9999" in said(market, rows)
