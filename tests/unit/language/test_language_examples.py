import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from bot.catalog import packaged
from bot.language import parse

EXAMPLES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/parse/examples.jsonl").read_text().splitlines()
]


def same(got: object, expected: object) -> bool:
    if isinstance(got, str) and isinstance(expected, str):
        try:
            return Decimal(got) == Decimal(expected)
        except ArithmeticError:
            return got == expected
    return got == expected


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["id"])
def test_every_example_line_means_what_the_contract_says(example):
    circumstances = {
        "now": datetime.fromisoformat(example["now"]),
        "zone": example["tz"],
        "locale": example["locale"],
        "catalog": packaged(),
    }
    parsed = parse(example["text"], **circumstances)
    expect = example["expect"]
    got = json.loads(parsed.model_dump_json())
    assert got["status"] in expect["status"] or got["status"] == expect["status"]
    if "command" in expect:
        assert got["command"] in expect["command"]
    values = got["arguments"] | (got["request"] or {})
    for field, value in expect["request"].items():
        assert same(values.get(field), value), field
    fields = {question["field"] for question in got["questions"]}
    assert set(expect.get("questions_about", [])) <= fields
    offered = [choice["value"] for question in got["questions"] for choice in question["choices"]]
    assert set(expect.get("choices_include", [])) <= set(offered)
    if got["status"] == "refused":
        assert parse(parsed.problem.hint, **circumstances).status != "refused"
    if got["status"] == "ok":
        again = parse(parsed.line, **circumstances)
        assert (again.command, again.id, again.request) == (
            parsed.command,
            parsed.id,
            parsed.request,
        )


def test_the_contract_s_example_reads_as_printed():
    parsed = parse(
        'reserve 16xH100 for 2 days from Mar 15 9am under $15k because "eval run"',
        now=datetime.fromisoformat("2027-03-10T15:00:00Z"),
        zone="Europe/Berlin",
        locale="en-US",
        catalog=packaged(),
    )
    request = json.loads(parsed.model_dump_json())["request"]
    assert parsed.status == "ok"
    assert parsed.line.startswith("reserve 16xH100 from 2027-03-15T09:00 Europe/Berlin for 48h")
    assert request["earliest_start"] == request["latest_start"] == "2027-03-15T08:00:00Z"
    assert request["accelerator"] == "H100"
    assert request["accelerator_count"] == 16
    assert request["max_total_usd"] == "15000.00"
    assert request["duration_hours"] == "48"
    assert request["reason"] == "eval run"
