"""The one clock: wall speed between jumps, from event to event in them."""

from datetime import UTC, datetime, timedelta

import pytest

from sandbox.clock import ClockError, WorldClock
from sandbox.control.errors import RequestError
from sandbox.control.time import duration


def now(world):
    return datetime.fromisoformat(world.get("/control/clock")["now"])


def test_the_clock_runs_at_wall_speed_and_stands_still_when_held():
    wall = [100.0]
    start = datetime(2027, 3, 10, 15, tzinfo=UTC)
    clock = WorldClock(start, monotonic=lambda: wall[0])
    wall[0] += 2.5
    assert clock.now() == start + timedelta(seconds=2.5)
    with clock.hold():
        wall[0] += 60
        assert clock.now() == start + timedelta(seconds=2.5)
        clock.move_to(start + timedelta(hours=1))
        wall[0] += 60
    wall[0] += 1
    assert clock.now() == start + timedelta(hours=1, seconds=1)


def test_the_clock_never_moves_back():
    clock = WorldClock()
    with pytest.raises(ClockError, match="only moves forward"):
        clock.move_to(clock.now() - timedelta(seconds=1))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("36h", timedelta(hours=36)),
        ("2d12h", timedelta(hours=60)),
        ("90 m", timedelta(minutes=90)),
        ("1.5h", timedelta(minutes=90)),
        ("45s", timedelta(seconds=45)),
    ],
)
def test_a_duration_is_read(text, meant):
    assert duration(text) == meant


@pytest.mark.parametrize("text", ["", "36", "h", "-3h", "3h then", "36 hours", "9" * 20 + "w"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(RequestError):
        duration(text)


def test_the_bot_reads_the_same_clock(world):
    apart = datetime.fromisoformat(world.get("/clock")["now"]) - now(world)
    assert abs(apart) < timedelta(seconds=1)


def test_a_jump_stops_at_each_event_of_aws_and_bot_and_returns_when_all_is_done(world):
    world.command("later")
    due = world.until(lambda: _due(world))
    event = due[0] + timedelta(hours=2)
    world.world.aws.waiting.append(event)
    target = due[0] + timedelta(hours=12)
    answer = world.post("/control/clock", set=target.isoformat())
    assert datetime.fromisoformat(answer["now"]) == target
    posted = [m for m in world.messages() if m["text"].startswith("due ")]
    assert [m["text"] for m in posted[-2:]] == [f"due {moment.isoformat()}" for moment in due]
    stamps = [datetime.fromtimestamp(int(m["ts"].split(".")[0]), UTC) for m in posted[-2:]]
    assert stamps == [moment.replace(microsecond=0) for moment in due]
    assert world.world.aws.settled[-1] == (event, event)


def _due(world):
    """What the stand-in bot has ahead, once the command was worked through."""
    import json  # noqa: PLC0415
    import urllib.request  # noqa: PLC0415

    url = f"http://127.0.0.1:{world.world.bot.port}/healthz"
    with urllib.request.urlopen(url) as answer:
        first = json.load(answer)["next_due"]
    if first is None:
        return None
    begin = datetime.fromisoformat(first)
    return [begin, begin + timedelta(hours=6)]


@pytest.mark.parametrize(
    "body",
    [{}, {"advance": "soon"}, {"set": "2020-01-01T00:00:00Z"}, {"advance": "1h", "set": "x"}],
)
def test_a_jump_that_makes_no_sense_is_refused_in_words(world, body):
    status, answer = world.call("/control/clock", body)
    assert status == 400
    assert len(answer["error"]) > 10


def test_a_jump_while_the_bot_is_down_just_moves_time(world):
    world.post("/control/bot/kill")
    before = now(world)
    event = before + timedelta(hours=1)
    world.world.aws.waiting.append(event)
    world.post("/control/clock", advance="36h")
    assert now(world) - before >= timedelta(hours=36)
    assert world.world.aws.settled[-1] == (event, event)
    world.post("/control/bot/start")
    world.until(lambda: world.call("/control/ready")[0] == 200)
