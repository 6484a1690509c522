"""Jumps: from event to event, waiting for the bot, never for one that is down, never for ever."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from sandbox.bot_process import Backlog, Health
from sandbox.clock import WorldClock
from sandbox.control.journey import Journey, JumpError
from sandbox.scenario import AwsEvent
from sandbox.telling import plain, words_of
from sandbox.world import Timetable

START = datetime(2027, 3, 10, 15, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Timeline:
    """A source with instants; each settling is written down."""

    def __init__(self, clock, *moments):
        self.clock = clock
        self.moments = sorted(moments)
        self.settled = []

    def next_event(self):
        return min(self.moments, default=None)

    def settle(self):
        now = self.clock.now()
        self.settled += [(moment, now) for moment in self.moments if moment <= now]
        self.moments = [moment for moment in self.moments if moment > now]


class SlowBot:
    """A bot that needs three looks to finish what is due, and may plan something new then."""

    def __init__(self, clock, *moments, then=None):
        self.clock = clock
        self.moments = sorted(moments)
        self.then = then
        self.running = True
        self.looks = 0
        self.done = []

    async def report(self):
        now = self.clock.now()
        due = [moment for moment in self.moments if moment <= now]
        if due:
            self.looks += 1
            if self.looks == 3:
                self.looks = 0
                self.done += [(moment, now) for moment in due]
                self.moments = [moment for moment in self.moments if moment > now]
                if self.then is not None:
                    self.moments.append(self.then)
                    self.then = None
                due = []
        return Health(
            status="ok",
            clock=now,
            backlog=Backlog(due=len(due)),
            next_due=min(self.moments, default=None),
        )


def jump(clock, sources, bot, target, **limits):
    return asyncio.run(Journey(clock, sources, bot, **limits).to(lambda: target))


def test_every_event_is_met_at_its_own_instant():
    clock = WorldClock(START)
    aws = Timeline(clock, START + HOUR, START + 3 * HOUR)
    bot = SlowBot(clock, START + 2 * HOUR)
    assert jump(clock, (aws,), bot, START + 5 * HOUR) == START + 5 * HOUR
    assert aws.settled == [(START + HOUR, START + HOUR), (START + 3 * HOUR, START + 3 * HOUR)]
    assert bot.done == [(START + 2 * HOUR, START + 2 * HOUR)]


def test_what_the_bot_plans_on_the_way_is_met_too_even_at_the_target():
    clock = WorldClock(START)
    bot = SlowBot(clock, START + HOUR, then=START + 2 * HOUR)
    jump(clock, (), bot, START + 2 * HOUR)
    assert [moment for moment, _ in bot.done] == [START + HOUR, START + 2 * HOUR]


def test_what_lies_beyond_the_target_waits():
    clock = WorldClock(START)
    aws = Timeline(clock, START + 2 * HOUR)
    jump(clock, (aws,), SlowBot(clock), START + HOUR)
    assert aws.settled == []


def test_a_bot_that_is_down_is_not_waited_for():
    clock = WorldClock(START)
    aws = Timeline(clock, START + HOUR)
    bot = SlowBot(clock, START + HOUR)
    bot.running = False
    jump(clock, (aws,), bot, START + 2 * HOUR)
    assert aws.settled == [(START + HOUR, START + HOUR)]


def test_a_bot_that_never_finishes_ends_the_jump_with_its_backlog():
    clock = WorldClock(START)

    class Stuck(SlowBot):
        async def report(self):
            backlog = Backlog(outbox=2)
            return Health(status="ok", clock=self.clock.now(), backlog=backlog)

    with pytest.raises(JumpError, match="outbox 2"):
        jump(clock, (), Stuck(clock), START + HOUR, instant_seconds=0.1)


def test_a_bot_whose_clock_lags_is_waited_for():
    clock = WorldClock(START)

    class Behind(SlowBot):
        async def report(self):
            return Health(status="ok", clock=START - HOUR)

    with pytest.raises(JumpError, match="believes it is 2027-03-10T14:00"):
        jump(clock, (), Behind(clock), START + HOUR, instant_seconds=0.1)


def test_something_that_stays_due_ends_the_jump():
    clock = WorldClock(START)

    class Forever(Timeline):
        def settle(self):
            pass

    aws = Forever(clock, START + HOUR)
    with pytest.raises(JumpError, match="stays due for ever"):
        jump(clock, (aws,), SlowBot(clock), START + 2 * HOUR, jump_seconds=0.2)


def test_a_scenarios_events_happen_at_their_instants_and_impossible_ones_are_passed(caplog):
    clock = WorldClock(START)
    happened = []

    class Aws:
        def event(self, order):
            if order["offering"] == "none":
                raise ValueError("there is no offering none")
            happened.append((order, clock.now()))

    events = [
        AwsEvent(at=START + 2 * HOUR, event="sold-out", offering="cb-1"),
        AwsEvent(at=START + HOUR, event="sold-out", offering="none"),
    ]
    timetable = Timetable(events, now=clock.now, aws=Aws())
    jump(clock, (timetable,), SlowBot(clock), START + 3 * HOUR)
    assert happened == [({"event": "sold-out", "offering": "cb-1"}, START + 2 * HOUR)]
    assert "there is no offering none" in caplog.text


def test_the_demo_reads_cards_as_people_do():
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "*$1.00* in `us-east-1`"}},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "by <@U0ANA> &amp; co"}]},
    ]
    assert list(words_of(blocks)) == ["$1.00 in us-east-1", "by @ana & co"]
    assert plain("<!date^1^{time}|9:00 UTC> <https://x.example|here>") == "9:00 UTC here"
