"""Machines that run but whose GPUs do nothing: told like any other idleness, and only if known."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.lifecycle import LIVE_RESERVATIONS
from bot.domain.market import Kind
from bot.services.digests.digest_lines import Books, idle
from tests.fakes.aws import FakeUtilisation
from tests.services.after.test_idling import END, IDLE, START, show, to_channel, to_owner

LAZY, HARD = Decimal("0.03"), Decimal("0.9")
HOUR = timedelta(hours=1)


@pytest.fixture
def gpus(world) -> FakeUtilisation:
    world.utilisation = FakeUtilisation(world.clock)
    world.start()
    return world.utilisation


def running(world, gpus, *shares: Decimal, total: int = 2):
    reservation = world.bought(START, END)
    show(world, reservation, free=0, total=total)
    gpus.shares[f"cr-{reservation.id}"] = shares
    gpus.machines[f"cr-{reservation.id}"] = total
    return reservation


def test_machines_that_run_with_idle_gpus_are_told_in_dollars_with_source_and_age(world, gpus):
    running(world, gpus, LAZY, LAZY)
    world.run_until(START + HOUR)
    assert len(to_owner(world)) == 1
    [said] = world.saying(IDLE)
    assert "2 of 2 x p5.48xlarge cost $23.02 an hour" in said
    assert "2 machines run, but with GPUs below 10 %; all that report are at 3 % on average" in said
    assert "(CloudWatch, last 30 min, 2 of 2 machines report)" in said
    assert "So little is used since" in said


def test_the_window_that_is_read_is_how_long_idleness_must_last(world, gpus):
    running(world, gpus, HARD, HARD)
    world.run_until(START + HOUR)
    assert set(gpus.windows) == {timedelta(minutes=30)}


def test_gpus_that_work_are_not_told_of(world, gpus):
    running(world, gpus, HARD, HARD)
    world.run_until(END)
    assert world.saying(IDLE) == []


def test_half_of_the_machines_at_work_are_enough_as_with_counts(world, gpus):
    running(world, gpus, LAZY, HARD)
    world.run_until(END)
    assert world.saying(IDLE) == []


def test_no_agent_is_unknown_and_not_idle(world, gpus):
    running(world, gpus)
    world.run_until(END)
    assert world.saying(IDLE) == []


def test_only_machines_that_report_can_be_idle_by_their_gpus(world, gpus):
    running(world, gpus, LAZY, total=4)
    world.run_until(END)
    assert world.saying(IDLE) == []


def test_what_cannot_be_read_proves_nothing(world, gpus):
    gpus.not_read = "throttled: ThrottlingException"
    running(world, gpus, LAZY, LAZY)
    world.run_until(END)
    assert world.saying(IDLE) == []


def test_an_hour_later_the_channel_hears_of_it_and_nobody_a_second_time(world, gpus):
    running(world, gpus, LAZY, LAZY)
    world.run_until(START + 3 * HOUR)
    assert (len(to_owner(world)), len(to_channel(world))) == (1, 1)
    world.run_until(END)
    assert (len(to_owner(world)), len(to_channel(world))) == (1, 1)


def test_nobody_reporting_for_a_while_ends_no_episode(world, gpus):
    reservation = running(world, gpus, LAZY, LAZY)
    world.run_until(START + HOUR)
    gpus.not_read = "throttled: ThrottlingException"
    world.run_until(START + 8 * HOUR)
    gpus.not_read = ""
    world.run_until(START + 10 * HOUR)
    assert (len(to_owner(world)), len(to_channel(world))) == (1, 1)
    gpus.shares[f"cr-{reservation.id}"] = (HARD, HARD)
    world.run_until(START + 12 * HOUR)
    gpus.shares[f"cr-{reservation.id}"] = (LAZY, LAZY)
    world.run_until(START + 24 * HOUR)
    assert len(to_owner(world)) == 2


def test_machines_launched_into_an_idle_reservation_that_then_do_nothing_are_one_episode(
    world, gpus
):
    reservation = running(world, gpus, LAZY, LAZY)
    show(world, reservation, free=2)
    world.run_until(START + timedelta(minutes=31))
    show(world, reservation, free=0)
    world.run_until(END)
    assert (len(to_owner(world)), len(to_channel(world))) == (1, 1)


def test_machines_by_the_hour_are_told_of_by_their_gpus_alone(world, gpus):
    reservation = world.bought(START, END, kind=Kind.ON_DEMAND, state="active")
    show(world, reservation, free=2, state="running")
    world.run_until(START + 4 * HOUR)
    assert world.saying(IDLE) == []
    gpus.shares[f"cr-{reservation.id}"] = (LAZY, LAZY)
    world.run_until(START + 6 * HOUR)
    said = world.saying(IDLE)[0]
    assert "These bill by the hour: end them" in said
    assert "2 of 2 x p5.48xlarge" in said


def test_machines_by_the_hour_that_were_ended_are_not_idle(world, gpus):
    reservation = world.bought(START, END, kind=Kind.ON_DEMAND, state="active")
    gpus.shares[f"cr-{reservation.id}"] = (LAZY, LAZY)
    show(world, reservation, free=0, ill=2, state="terminated")
    world.run_until(START + 6 * HOUR)
    assert world.saying(IDLE) == []


def test_without_a_threshold_gpus_are_not_read(world, gpus):
    limits = world.configuration.limits.model_copy(update={"idle_gpu_below": None})
    world.configuration = world.configuration.model_copy(update={"limits": limits})
    world.start()
    running(world, gpus, LAZY, LAZY)
    world.run_until(START + 4 * HOUR)
    assert gpus.windows == []
    assert world.saying(IDLE) == []


def test_the_report_counts_idle_gpus_as_not_used_and_says_how_it_knows(world, gpus):
    reservation = running(world, gpus, HARD, HARD)
    world.run_until(START + 24 * HOUR)
    gpus.shares[f"cr-{reservation.id}"] = (LAZY, LAZY)
    world.run_until(END - timedelta(minutes=1))
    show(world, reservation, free=2, state="expired")
    world.run_until(END + HOUR)
    [said] = world.saying("Report: ")
    assert ", 52 % used: " in said
    assert "CloudWatch had the GPUs for 9" in said
    assert "48 % busy on average. Machines whose GPUs stayed idle count as not used." in said


def test_a_report_without_gpus_says_nothing_of_them(world, gpus):
    reservation = running(world, gpus)
    world.run_until(END - timedelta(minutes=1))
    show(world, reservation, free=2, state="expired")
    world.run_until(END + HOUR)
    [said] = world.saying("Report: ")
    assert "CloudWatch" not in said


# --- the digest --------------------------------------------------------------------------------


def idle_lines(world) -> list[str]:
    configuration = world.configuration
    with world.store.reading() as tx:
        live = tx.reservations.listing(states=LIVE_RESERVATIONS, limit=10)
        books = Books(
            tx=tx,
            live=live,
            receipts={one.id: tuple(tx.receipts.of(one.id)) for one in live},
            configuration=configuration,
            now=world.clock.now(),
        )
        return ["".join(map(plain_phrase, line.sentence)) for line in idle(books)]


def plain_phrase(phrase) -> str:
    return phrase if isinstance(phrase, str) else phrase.text


def test_the_digest_counts_machines_with_idle_gpus_in_the_notices_own_dollars(world, gpus):
    running(world, gpus, LAZY, LAZY)
    world.run_until(START + HOUR)
    [notice] = world.saying(IDLE)
    assert "2 of 2 x p5.48xlarge cost $23.02 an hour" in notice
    [line] = idle_lines(world)
    assert line.endswith(
        " 2 of 2 machines idle at $23.02 an hour, 2 of them running with idle GPUs."
    )


def test_the_digest_has_no_line_where_half_of_the_machines_work(world, gpus):
    running(world, gpus, LAZY, HARD)
    world.run_until(START + HOUR)
    assert idle_lines(world) == []


def test_the_digest_says_idle_gpus_of_launched_machines_as_well(world, gpus):
    reservation = world.bought(START, END, kind=Kind.ON_DEMAND, state="active")
    show(world, reservation, free=2, state="running")
    gpus.shares[f"cr-{reservation.id}"] = (LAZY, LAZY)
    world.run_until(START + HOUR)
    assert len(idle_lines(world)) == len(world.saying(IDLE)) == 1
