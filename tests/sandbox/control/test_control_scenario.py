"""A scenario file says what it changes, and is refused with the line where it is wrong."""

from datetime import UTC, datetime

import pytest

from sandbox.scenario import ScenarioError, read_scenario


def write(tmp_path, text):
    path = tmp_path / "scenario.yaml"
    path.write_text(text, "utf-8")
    return path


def test_an_empty_scenario_is_the_default_world(tmp_path):
    scenario = read_scenario(write(tmp_path, ""))
    assert scenario.clock == datetime(2027, 3, 10, 15, tzinfo=UTC)
    assert {p.id for p in scenario.everybody()} >= {"U0ANA", "U0EVE", "U0GONE"}


def test_a_scenario_changes_clock_people_supply_events_and_faults(tmp_path):
    scenario = read_scenario(
        write(
            tmp_path,
            """
clock: 2027-06-01T08:00:00Z
people:
  U0ANA: {tz: Asia/Tokyo, deleted: true}
  U0NEW: {name: new, organisation: partner}
supply: {open_percent: 0}
quotas:
  - {quota: L-417A185B, value: 0}
events:
  - {at: 2027-06-02T08:00:00Z, event: sold-out, offering: cb-1}
faults:
  slack:
    - {method: chat.postMessage, fault: "429:30", times: 2}
  aws:
    - {operation: PurchaseCapacityBlock, fault: lost-answer}
""",
        )
    )
    people = {p.id: p for p in scenario.everybody()}
    assert (people["U0ANA"].tz, people["U0ANA"].deleted) == ("Asia/Tokyo", True)
    assert people["U0NEW"].is_stranger
    assert scenario.clock == datetime(2027, 6, 1, 8, tzinfo=UTC)
    assert [(q.quota, q.value) for q in scenario.whole_supply().quotas] == [("L-417A185B", 0)]
    assert scenario.whole_supply().open_percent == 0
    assert scenario.events[0].order() == {"event": "sold-out", "offering": "cb-1"}


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("clock: 2027-06-01T08:00:00Z\ncolour: red\n", 2, "known here: clock"),
        ("clock: soon\n", 1, "clock"),
        ("clock: 2027-06-01T08:00:00\n", 1, "timezone"),
        ("people:\n  U0ANA:\n    tz: Berlin\n", 2, "IANA"),
        ("people:\n  U0ANA:\n    zone: x\n", 3, "known here: deleted"),
        ("people:\n  u0ana: {name: a}\n", 1, "pattern"),
        ("faults:\n  slack:\n    - method: chat.update\n      fault: flood\n", 3, "429:SECONDS"),
        ("faults:\n  slack:\n    - method: m\n      fault: '500'\n", 3, "chat.postMessage"),
        ("faults:\n  aws:\n    - {operation: Nope, fault: throttle}\n", 2, "no operation 'Nope'"),
        ("faults:\n  aws:\n    - {operation: RunInstances, fault: x}\n", 2, "no fault 'x'"),
        ("events:\n  - {at: 2027-06-02T08:00:00Z, event: sold_out}\n", 2, "sold-out"),
        ("events:\n  - {at: 2027-06-02T08:00:00Z, event: sold-out, offer: x}\n", 2, "no 'offer'"),
        ("events:\n  - event: x\n", 2, "at"),
        ("supply:\n  open: 3\n", 2, "known here: accounts_outside_organization"),
        ("supply:\n  blocks:\n    - {region: r, type: t}\n", 3, "instance_type"),
        ("quotas:\n  - {quota: L-1, limit: 3}\n", 2, "known here: account"),
        ("clock: 2027-06-01T08:00:00Z\nclock: 2027-06-01T08:00:00Z\n", 2, "twice"),
        ("- a\n", 1, "keys and values"),
        ("a: [\n", 2, "flow"),
    ],
)
def test_a_wrong_scenario_is_refused_with_its_line(tmp_path, text, line, word):
    path = write(tmp_path, text)
    with pytest.raises(ScenarioError) as caught:
        read_scenario(path)
    assert str(path) in str(caught.value)
    assert word in str(caught.value)
    assert f"line {line}" in str(caught.value)
