"""`store`: what the screens read at 100,000 requests and 1,000,000 audit rows.

The other side is hand-written SQL for the same rows, on the same kind of connection, read into
the same models: what is left is the price of the port.
"""

import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from bot.domain.base import Model
from bot.domain.lifecycle import LIVE_RESERVATIONS, ReservationState
from bot.domain.records import AuditEntry, Reservation
from bot.domain.request import Request
from bot.ports import Store
from storage import open_store
from storage.bodies import body_of, time_text

REQUESTS = 100_000
AUDIT_EACH = 10
LIVE = 800
PEOPLE = 60
TEAMS = 6
ROUNDS = 61
MARK = "≤ 1.3"
NOW = datetime(2027, 3, 10, 15, tzinfo=UTC)
ALIVE = "state not in ('ended', 'declined', 'expired', 'cancelled', 'failed', 'shadowed')"
"""As somebody writes it who knows the partial indexes of live rows."""
_LAST = "order by id desc limit ?"
_SELECT = "select body from reservation where"
_ASKED = f"select id from reservation where requester = ? and {ALIVE} {_LAST}"  # noqa: S608 - every part is written here
_OWNED = f"select id from reservation where owner = ? and {ALIVE} {_LAST}"  # noqa: S608 - as above
_MINE = (
    f"{_SELECT} id in (select id from ({_ASKED}) union select id from ({_OWNED}) {_LAST})"  # noqa: S608 - as above
    " order by id desc"
)
_TEAM = f"{_SELECT} team = ? and {ALIVE} {_LAST}"
_ALL = f"{_SELECT} {ALIVE} {_LAST}"
_WAITING = f"{_SELECT} {ALIVE} and state = 'pending_approval' {_LAST}"
_OLDEST = f"{_SELECT} {ALIVE} order by id limit ?"
_AUDIT = (
    "select at, actor, action, reservation_id, purchase_id, facts from audit"
    " where reservation_id = ? order by id desc limit 20"
)
_ONE = REQUESTS - 7


def rows() -> list[tuple[str, float, str]]:
    """Return a ratio for each screen, the median of interleaved pairs of CPU time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        store = open_store(f"sqlite:///{path}")
        _fill(path)
        by_hand = sqlite3.connect(path, isolation_level=None)
        by_hand.execute("pragma foreign_keys = on")
        answers = [
            (f"store: {name}", _ratio(ours, theirs), MARK)
            for name, ours, theirs in _screens(store, by_hand)
        ]
        by_hand.close()
        store.close()
    return answers


def _fill(path: Path) -> None:
    """Write the rows straight into the tables: the port is what is measured, not filling it."""
    states = [
        ReservationState.ACTIVE,
        ReservationState.PENDING_APPROVAL,
        ReservationState.SCHEDULED,
        ReservationState.QUOTED,
    ]
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("begin immediate")
    for number in range(1, REQUESTS + 1):
        state = states[number % 4] if number > REQUESTS - LIVE else ReservationState.ENDED
        filed = NOW - timedelta(minutes=REQUESTS - number)
        reservation = Reservation(
            id=number,
            revision=1,
            state=state,
            workspace="T0",
            requester=f"U{number % PEOPLE}",
            owner=f"U{number % PEOPLE}",
            team=f"team{number % TEAMS}",
            channel="C0GPU",
            request=Request(instance_type="p5.48xlarge", instance_count=2),
            line="reserve 2x p5.48xlarge for 72h",
            zone="Europe/Berlin",
            locale="en-US",
            created_at=filed,
            updated_at=filed,
        )
        connection.execute(
            "insert into reservation"
            " (id, revision, state, requester, owner, team, line, created_at, body)"
            " values (?, 1, ?, ?, ?, ?, ?, ?, ?)",
            (
                number, state.value, reservation.requester, reservation.owner, reservation.team,
                reservation.line, time_text(filed), body_of(reservation),
            ),
        )  # fmt: skip
        connection.executemany(
            "insert into audit (at, actor, action, reservation_id, facts, previous, hash)"
            " values (?, 'aws', 'looked', ?, '{}', ?, ?)",
            [
                (time_text(filed), number, f"{number}-{step - 1}", f"{number}-{step}")
                for step in range(AUDIT_EACH)
            ],
        )
    connection.execute("commit")
    connection.execute("analyze")
    connection.close()


def _screens(
    store: Store, by_hand: sqlite3.Connection
) -> list[tuple[str, Callable[[], object], Callable[[], object]]]:
    def ours(*screens: dict[str, object]) -> Callable[[], object]:
        def read() -> object:
            with store.reading() as tx:
                return [
                    tx.reservations.listing(**{"states": LIVE_RESERVATIONS, **how})  # type: ignore[arg-type]  # the port's own keywords
                    for how in screens
                ]

        return read

    def theirs(*screens: tuple[object, ...]) -> Callable[[], object]:
        def read() -> object:
            by_hand.execute("begin")
            found = [by_hand.execute(str(sql), values).fetchall() for sql, *values in screens]
            by_hand.execute("commit")
            return [
                [Reservation.model_validate_json(body) for (body,) in screen] for screen in found
            ]

        return read

    def status() -> object:
        with store.reading() as tx:
            return tx.reservations.get(_ONE), tx.audit.of(_ONE, limit=20)

    def status_by_hand() -> object:
        by_hand.execute("begin")
        [(body,)] = by_hand.execute(f"{_SELECT} id = ?", (_ONE,)).fetchall()
        audit = by_hand.execute(_AUDIT, (_ONE,)).fetchall()
        by_hand.execute("commit")
        return Reservation.model_validate_json(body), [_entry(row) for row in reversed(audit)]

    mine, team = {"requester": "U7"}, {"team": "team1"}
    waiting = {"states": {ReservationState.PENDING_APPROVAL}, "limit": 50}
    return [
        ("status", status, status_by_hand),
        ("list mine", ours({**mine, "limit": 25}), theirs((_MINE, "U7", 25, "U7", 25, 25))),
        ("list team", ours({**team, "limit": 25}), theirs((_TEAM, "team1", 25))),
        ("list all", ours({"limit": 25}), theirs((_ALL, 25))),
        (
            "Home",
            ours({**mine, "limit": 11}, {**team, "limit": 50}, waiting),
            theirs((_MINE, "U7", 11, "U7", 11, 11), (_TEAM, "team1", 50), (_WAITING, 50)),
        ),
        ("digest", ours({"limit": 1000, "newest_first": False}), theirs((_OLDEST, 1000))),
    ]


def _entry(row: tuple[str, str, str, int, str | None, str]) -> Model:
    at, actor, action, reservation_id, purchase_id, facts = row
    return AuditEntry(
        at=datetime.fromisoformat(at),
        actor=actor,
        action=action,
        reservation_id=reservation_id,
        purchase_id=purchase_id,
        facts=json.loads(facts),
    )


def _ratio(ours: Callable[[], object], theirs: Callable[[], object]) -> float:
    ours()
    theirs()
    ratios = []
    for number in range(ROUNDS):
        # Whoever comes second finds the caches warm.
        first, second = (ours, theirs) if number % 2 else (theirs, ours)
        spent = {first: _seconds(first), second: _seconds(second)}
        ratios.append(spent[ours] / spent[theirs])
    return median(ratios)


def _seconds(read: Callable[[], object]) -> float:
    """Return this thread's own time: what other programs take meanwhile says nothing here."""
    began = time.thread_time()
    for _ in range(5):
        read()
    return time.thread_time() - began


if __name__ == "__main__":
    sys.stdout.write(f"{rows()}\n")
