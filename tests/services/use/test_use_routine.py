"""Looks by the minute are due rows like all others, but nobody waits for them."""

from datetime import timedelta

import pytest

from bot.domain.records import Due
from bot.domain.using import ROUTINE
from bot.services.reservations.sequels import SPOT, spot_due
from storage import open_store
from tests.fakes.clock import NOW


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'use.sqlite'}"
    opened = open_store(url)
    yield opened
    opened.close()


def test_a_routine_look_is_claimed_when_due_but_not_named_as_what_is_next(store) -> None:
    later = NOW + timedelta(days=1)
    with store.transaction() as tx:
        tx.dues.plan(spot_due(42, at=NOW))
        tx.dues.plan(Due(key="follow:x", kind="follow", subject="x", at=later))
    with store.reading() as tx:
        assert tx.dues.next_at() == NOW
        assert tx.dues.next_at(leaving_out=ROUTINE) == later
        assert tx.dues.waiting(now=NOW) == 1
    with store.transaction() as tx:
        (claimed,) = tx.dues.claim(now=NOW, lease=timedelta(minutes=1), limit=5)
    assert claimed.kind == SPOT
