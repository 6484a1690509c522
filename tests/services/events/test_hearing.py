"""Events make the bot look sooner, and nothing but that."""

import json
from collections import Counter
from datetime import timedelta

import pytest

from bot.domain.market import Kind
from bot.services.reservations.sequels import SPOT_LOOK
from bot.services.running.events import GIVE_UP, Hearing
from tests.fakes.aws import FakeEventQueue
from tests.fakes.bell import FakeBell
from tests.services.after.after_world import stores, world_on
from tests.services.after.test_idling import END, START
from tests.services.events.test_envelopes import MACHINE, envelope

HELD = "cr-0123456789abcdef0"
HOUR = timedelta(hours=1)


@pytest.fixture(params=["memory", "sqlite"])
def world(request, tmp_path):
    world = world_on(stores(tmp_path)[request.param])
    world.queue = FakeEventQueue()
    world.bell = FakeBell()
    world.heard = []
    world.tally = Counter()
    world.duties.steps[SPOT_LOOK] = lambda due: world.heard.append(due.argument)
    world.hearing = Hearing(
        queue=world.queue,
        store=world.store,
        clock=world.clock,
        following=world.following,
        accounts=world.configuration.accounts,
        bell=world.bell,
        log=world.log,
        heard=lambda kind, outcome: world.tally.update([(kind, outcome)]),
    )
    yield world
    world.store.close()


def hear(world, *bodies: str) -> int:
    for body in bodies:
        world.queue.put(body)
    done = world.hearing.step()
    world.settle()
    return done


def delivered(name: str = HELD, **more) -> str:
    detail = {"capacity-reservation-id": name}
    return envelope("Capacity Block Reservation Delivered", detail=detail, **more)


def held(world, **more):
    return world.bought(START, END, receipt_id=HELD, **more)


def looks(world) -> int:
    return world.holdings.asked.count(HELD)


def test_an_event_about_a_reservation_has_it_looked_at_now(world):
    held(world)
    world.run_until(START - 3 * HOUR)
    before = looks(world)
    assert hear(world, delivered()) == 1
    assert looks(world) == before + 1
    assert world.queue.waiting == []
    assert world.tally == {("held", "hastened"): 1}


def test_what_the_event_says_is_not_believed(world):
    held(world)
    world.run_until(START - 3 * HOUR)
    hear(world, delivered())
    assert world.saying("is ready") == []


def test_what_aws_shows_is_told_at_once_when_an_event_comes(world):
    reservation = held(world)
    world.run_until(START + timedelta(seconds=10))
    world.holdings.shown[HELD] = {"state": "active"}
    assert world.saying("is ready") == []
    hear(world, delivered())
    assert len(world.saying("is ready")) == 1
    world.run_until(START + HOUR)
    assert len(world.saying("is ready")) == 1
    assert reservation.id


def test_without_events_the_looks_come_at_their_own_pace(world):
    held(world)
    world.run_until(START + timedelta(seconds=10))
    world.holdings.shown[HELD] = {"state": "active"}
    world.run_until(START + timedelta(minutes=5))
    assert len(world.saying("is ready")) == 1


def test_a_doubled_event_is_one_look(world):
    held(world)
    world.run_until(START - 3 * HOUR)
    before = looks(world)
    hear(world, delivered(), delivered())
    hear(world, delivered())
    assert looks(world) == before + 1
    assert world.tally == {("held", "hastened"): 1, ("held", "heard before"): 2}


def test_looking_sooner_leaves_the_regular_looks_in_place(world):
    held(world)
    world.run_until(START - 3 * HOUR)
    hear(world, delivered())
    world.holdings.shown[HELD] = {"state": "active"}
    world.run_until(START + HOUR)
    assert len(world.saying("is ready")) == 1


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (delivered("cr-ffffffffffffffff0"), "held"),
        (
            envelope(
                "SageMaker Endpoint State Change",
                detail={"EndpointName": "gpubot-gpu-9-0123456789ab"},
            ),
            "endpoint",
        ),
        (
            envelope("EC2 Spot Instance Interruption Warning", detail={"instance-id": MACHINE}),
            "interruption",
        ),
        (
            envelope("EC2 Instance State-change Notification", detail={"instance-id": MACHINE}),
            "machine",
        ),
    ],
)
def test_events_about_what_is_not_ours_are_counted_and_dropped(world, body, kind):
    before = len(world.words())
    assert hear(world, body) == 1
    assert (world.queue.waiting, world.tally) == ([], {(kind, "unknown"): 1})
    assert (len(world.words()), world.holdings.asked) == (before, [])


def test_an_event_about_what_has_ended_is_left_alone(world):
    held(world)
    world.run_until(START)
    world.holdings.shown[HELD] = {"state": "expired"}
    world.run_until(END + 2 * HOUR)
    before = looks(world)
    hear(world, delivered())
    assert looks(world) == before


def test_an_event_of_no_interest_is_dropped(world):
    assert hear(world, envelope("EC2 Instance Launch Successful")) == 1
    assert (world.queue.waiting, world.tally) == ([], {("other", "none of ours"): 1})


def test_what_is_no_event_is_left_for_the_dead_letters_and_logged(world):
    hear(world, "poison")
    assert [one.body for one in world.queue.waiting] == ["poison"]
    assert "event can't be read" in world.log.lines[0]


def test_what_is_no_event_does_not_hold_up_the_others(world):
    held(world)
    world.run_until(START - 3 * HOUR)
    before = looks(world)
    assert hear(world, "poison", delivered()) == 1
    assert looks(world) == before + 1
    assert [one.body for one in world.queue.waiting] == ["poison"]


def test_without_dead_letters_poison_is_dropped_at_last(world):
    world.queue.put("poison")
    for _ in range(GIVE_UP):
        world.hearing.step()
    assert world.queue.waiting == []
    assert "no dead-letter queue" in world.log.lines[-1]
    assert world.tally == {("unreadable", "failed"): GIVE_UP, ("unreadable", "dropped"): 1}


@pytest.mark.parametrize(
    "poison",
    [
        delivered(id="not an id").replace("not an id", "not an id \ud800"),
        envelope("SageMaker Endpoint State Change", detail=f"gpubot-gpu-{'9' * 12}-0123456789ab"),
        envelope("SageMaker Endpoint State Change", detail=f"gpubot-gpu-{'9' * 5000}-0123456789ab"),
        envelope("SageMaker Endpoint State Change", detail="gpubot-gpu-٣-0123456789ab"),
        "[" * 100_000,
        "\ud800",
    ],
)
def test_hostile_messages_crash_nothing_and_hold_up_nobody(world, poison):
    held(world)
    world.run_until(START - 3 * HOUR)
    before = looks(world)
    assert hear(world, poison, delivered(id="a-good-one")) >= 1
    assert looks(world) == before + 1
    assert {kind for kind, _ in world.tally} <= {"held", "endpoint", "other", "unreadable"}


def test_what_fails_every_time_is_dropped_at_last(world, monkeypatch):
    held(world)

    def crash(*_args, **_more):
        raise RuntimeError("a fault of our own")

    monkeypatch.setattr(type(world.following), "hasten", crash)
    world.queue.put(delivered())
    for _ in range(GIVE_UP - 1):
        world.hearing.step()
    assert len(world.queue.waiting) == 1
    world.hearing.step()
    assert world.queue.waiting == []
    assert world.tally == {("held", "failed"): GIVE_UP, ("held", "dropped"): 1}


def test_a_message_is_deleted_only_after_its_effect_is_committed(world, monkeypatch):
    held(world)
    world.run_until(START - 3 * HOUR)

    def crash(*_args, **_more):
        raise RuntimeError("the database is gone")

    with monkeypatch.context() as patch:
        patch.setattr(type(world.following), "hasten", crash)
        assert hear(world, delivered()) == 0
    assert "the database is gone" in world.log.lines[-1]
    assert len(world.queue.waiting) == 1
    before = looks(world)
    hear(world)
    assert looks(world) == before + 1


def test_a_message_that_could_not_be_deleted_is_heard_before(world):
    held(world)
    world.run_until(START - 3 * HOUR)
    world.queue.stuck = True
    before = looks(world)
    hear(world, delivered())
    world.queue.stuck = False
    hear(world)
    assert looks(world) == before + 1
    assert world.queue.waiting == []


def test_a_queue_that_cannot_be_read_is_left_in_peace_for_a_while(world):
    world.queue.unreadable = True
    assert (world.hearing.step(), world.hearing.step()) == (0, 0)
    assert len(world.log.lines) == 1
    held(world)
    world.run_until(START - 3 * HOUR)
    world.queue.unreadable = False
    assert hear(world, delivered()) == 1


def test_an_event_rings_so_that_nobody_waits_for_the_beat(world):
    held(world)
    world.run_until(START - 3 * HOUR)
    before = world.bell.rung
    hear(world, delivered())
    assert world.bell.rung > before


@pytest.mark.parametrize(
    "kind",
    ["EC2 Spot Instance Interruption Warning", "EC2 Instance Rebalance Recommendation"],
)
def test_a_spot_event_has_every_spot_launch_of_its_place_looked_at_once(world, kind):
    spot = world.bought(START, END, kind=Kind.SPOT, state="active", receipt_id="r-1")
    world.bought(START, END, kind=Kind.SPOT, state="active", receipt_id="r-2", region="us-west-2")
    body = envelope(kind, detail={"instance-id": MACHINE})
    hear(world, body, body)
    (argument,) = world.heard
    assert argument.startswith(f"{spot.id}|")
    assert MACHINE in argument


def test_machines_that_come_and_go_bring_no_more_than_a_look_in_ten_minutes(world):
    held(world, state="active")
    world.run_until(START + timedelta(minutes=62))
    before = looks(world)
    for number in range(20):
        body = envelope(
            "EC2 Instance State-change Notification",
            id=f"event-{number}",
            detail={"instance-id": MACHINE, "state": "running"},
        )
        hear(world, body)
    assert looks(world) == before + 1
    world.clock.advance(timedelta(minutes=10))
    hear(world, body)
    assert looks(world) == before + 2


def test_the_events_account_is_the_one_that_it_names(world):
    held(world)
    world.run_until(START - 3 * HOUR)
    world.queue.account = "elsewhere"
    world.bought(START, END, kind=Kind.SPOT, state="active", receipt_id="r-1")
    number = world.configuration.accounts[0].account_id
    detail = {"instance-id": MACHINE}
    body = json.loads(envelope("EC2 Instance Rebalance Recommendation", detail=detail))
    hear(world, json.dumps(body | {"account": "999988887777"}))
    assert world.heard == []
    hear(world, json.dumps(body | {"account": number}))
    assert len(world.heard) == 1
