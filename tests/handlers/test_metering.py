"""/metrics over real HTTP: the records, counted at each scrape, and this process's counters."""

import gc
import re
import urllib.request
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest

from bot.domain.errors import BusyError
from bot.domain.lifecycle import ProposalState, PurchaseState, ReservationState
from bot.serving import metrics
from handlers import HttpServer
from storage import open_store
from tests.contract.store.samples import (
    NOW,
    approval,
    delivery,
    due,
    money,
    proposed,
    purchase,
    reservation,
    saying,
)
from tests.fakes.clock import FakeClock

NAME = re.compile(r"gpubot_[a-z_]+(_total|_seconds|_dollars|_rows|_created|_bucket|_sum|_count)?")


@pytest.fixture
def scrape(office):
    """Serve the office's gateway over HTTP; return what one scrape shows, by name and labels."""
    server = HttpServer(office.gateway, host="127.0.0.1", port=0)
    server.start()

    def ask() -> dict[str, float]:
        address = f"http://127.0.0.1:{server.port}/metrics"
        with urllib.request.urlopen(address, timeout=10) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain")
            lines = answer.read().decode().splitlines()
        rows = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in rows}

    yield ask
    server.close()
    gc.collect()


def _watch(office, store, clock) -> None:
    object.__setattr__(office.gateway, "metrics", partial(metrics, store, clock))


def _fill(store) -> None:
    with store.transaction() as tx:
        number, proposal_id = proposed(tx)
        tx.reservations.add(reservation(state=ReservationState.NEEDS_REVIEW))
        tx.proposals.give(approval(proposal_id))
        tx.proposals.give(approval(proposal_id, approver="U8", verdict="deny"))
        tx.proposals.move(tx.proposals.get(proposal_id), ProposalState.APPROVED)
        bought = purchase(number, proposal_id)
        tx.purchases.add(bought)
        sent = tx.purchases.move(bought, PurchaseState.SUBMITTED, at=NOW)
        tx.purchases.move(sent, PurchaseState.INDETERMINATE, at=NOW)
        tx.budget.hold(money(number, purchase_key="a", amount=Decimal("10.25")))
        tx.budget.hold(money(number, purchase_key="b", amount=Decimal("20.50")))
        tx.budget.settle("b", amount="19.75")
        tx.outbox.put("m", saying(), at=NOW)
        tx.dues.plan(due("d", at=NOW))
    store.record(delivery(), patience=timedelta(seconds=5))


SHOWN = {
    'gpubot_reservations{state="needs_review"}': 1,
    'gpubot_reservations{state="active"}': 0,
    "gpubot_proposals_total": 1,
    'gpubot_verdicts_total{verdict="approve"}': 1,
    'gpubot_verdicts_total{verdict="deny"}': 1,
    'gpubot_purchases{state="indeterminate"}': 1,
    'gpubot_purchases{state="confirmed"}': 0,
    'gpubot_held_dollars{team="vision"}': 10.25,
    'gpubot_committed_dollars{team="vision"}': 19.75,
    'gpubot_backlog_rows{queue="inbox"}': 1,
    'gpubot_backlog_rows{queue="outbox"}': 1,
    'gpubot_backlog_rows{queue="due"}': 1,
    'gpubot_backlog_oldest_seconds{queue="inbox"}': 90,
    'gpubot_backlog_oldest_seconds{queue="outbox"}': 90,
    'gpubot_backlog_oldest_seconds{queue="due"}': 90,
}


def test_a_scrape_shows_the_records_and_a_restart_loses_nothing(office, scrape, tmp_path) -> None:
    clock = FakeClock(NOW + timedelta(seconds=90))
    address = f"sqlite:///{tmp_path / 'figures.db'}"
    first = open_store(address)
    _fill(first)
    _watch(office, first, clock)
    before = scrape()
    first.close()
    second = open_store(address)
    _watch(office, second, clock)
    after = scrape()
    second.close()
    assert {name: before[name] for name in SHOWN} == SHOWN
    assert {name: after[name] for name in SHOWN} == SHOWN


def test_every_state_is_there_before_anything_happened(office, scrape) -> None:
    _watch(office, office.store, FakeClock(NOW))
    shown = scrape()
    for state in PurchaseState:
        assert shown[f'gpubot_purchases{{state="{state}"}}'] == 0
    assert shown["gpubot_proposals_total"] == 0
    assert shown['gpubot_backlog_oldest_seconds{queue="due"}'] == 0


def test_the_counters_of_this_process_stand_beside_the_records(office, scrape) -> None:
    _watch(office, office.store, FakeClock(NOW))
    before = scrape().get('gpubot_deliveries_total{outcome="taken"}', 0)
    office.command("list")
    assert scrape()['gpubot_deliveries_total{outcome="taken"}'] == before + 1


def test_a_busy_database_leaves_the_counters_of_this_process(office, scrape) -> None:
    def busy() -> bytes:
        raise BusyError("locked")

    object.__setattr__(office.gateway, "metrics", busy)
    shown = scrape()
    assert "gpubot_proposals_total" not in shown
    assert any(name.startswith("gpubot_ack_seconds") for name in shown)


def test_names_follow_prometheus_and_carry_their_base_unit(office, scrape) -> None:
    _watch(office, office.store, FakeClock(NOW))
    ours = {name.partition("{")[0] for name in scrape() if name.startswith("gpubot_")}
    assert ours
    assert all(NAME.fullmatch(name) for name in ours)
