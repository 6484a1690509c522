"""Figures in SQLite: every count walks an index, and only live and open rows are read."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

from bot.domain.figures import Backlog, Figures
from bot.domain.lifecycle import ProposalState, PurchaseState, ReservationState
from storage.bodies import maybe_time_of, time_text
from storage.session import Row, Session, Value, maybe_text, number, text
from storage.sqlite_queues import LEAVING
from storage.sqlite_records import LIVE

Key = TypeVar("Key")


class SqliteCounts:
    """See bot.ports.Counts."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def figures(self, *, now: datetime, since: datetime, until: datetime) -> Figures:
        """See bot.ports."""
        present = time_text(now)
        return Figures(
            reservations=_by(
                ReservationState,
                self._session.rows(
                    "select state, count(*) from reservation indexed by reservation_live"  # noqa: S608 - a condition from this package
                    f" where {LIVE} group by state"
                ),
            ),
            proposals=_by(
                ProposalState,
                self._session.rows("select state, count(*) from proposal group by state"),
            ),
            verdicts=self._verdicts(),
            purchases=_by(
                PurchaseState,
                self._session.rows("select state, count(*) from purchase group by state"),
            ),
            held=_sums(self._session.rows("select team, amount from budget where state = 'held'")),
            committed=_sums(
                self._session.rows(
                    "select team, amount from budget"
                    " where held_at >= ? and held_at < ? and state = 'committed'",
                    (time_text(since), time_text(until)),
                )
            ),
            inbox=self._backlog(
                "select count(*), min(received_at) from inbox where state = 'waiting' and late = 0"
            ),
            outbox=Backlog(
                count=number(self._session.named(LEAVING, {"now": present})[0][0]),
                oldest=self._backlog(
                    "select count(*), min(not_before) from outbox"
                    " where state = 'waiting' and not_before <= ?",
                    present,
                ).oldest,
            ),
            due=self._backlog(
                "select count(*), min(not_before) from due"
                " where state = 'open' and not_before <= ?",
                present,
            ),
        )

    def _verdicts(self) -> dict[str, int]:
        """Return both counts, read from indexes alone: verdicts are in the bodies only."""
        [(given,)] = self._session.rows("select count(*) from approval")
        [(denied,)] = self._session.rows(
            "select count(*) from approval indexed by approval_denied"
            " where json_extract(body, '$.verdict') = 'deny'"
        )
        counts = {"approve": number(given) - number(denied), "deny": number(denied)}
        return {verdict: count for verdict, count in counts.items() if count}

    def _backlog(self, sql: str, *values: Value) -> Backlog:
        [(count, oldest)] = self._session.rows(sql, values)
        return Backlog(count=number(count), oldest=maybe_time_of(maybe_text(oldest)))


def _by(key: Callable[[str], Key], rows: Iterable[Row]) -> dict[Key, int]:
    return {key(text(state)): number(count) for state, count in rows}


def _sums(rows: Iterable[Row]) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for team, amount in rows:
        sums[maybe_text(team) or ""] += Decimal(text(amount))
    return dict(sums)
