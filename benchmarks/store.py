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
ROUNDS = 15
MARK = "≤ 1.3"
NOW = datetime(2027, 3, 10, 15, tzinfo=UTC)
_LIVE_STATES = sorted(LIVE_RESERVATIONS)
_ENDED = "select id, body from reservation where"


def rows() -> list[tuple[str, float, str]]:
    """Return a ratio for each screen, the median of interleaved pairs."""
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
    states = [ReservationState.ACTIVE, ReservationState.SCHEDULED, ReservationState.QUOTED]
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("begin immediate")
    for number in range(1, REQUESTS + 1):
        state = states[number % 3] if number > REQUESTS - LIVE else ReservationState.ENDED
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
    marks = ", ".join("?" * len(_LIVE_STATES))

    def listing(**how: object) -> Callable[[], object]:
        def read() -> object:
            with store.reading() as tx:
                return tx.reservations.listing(states=LIVE_RESERVATIONS, **how)  # type: ignore[arg-type]  # the port's own keywords

        return read

    def select(
        where: str, *values: object, limit: int, order: str = "desc"
    ) -> Callable[[], object]:
        sql = f"{_ENDED} {where} order by id {order} limit ?"

        def read() -> object:
            by_hand.execute("begin")
            found = by_hand.execute(sql, (*values, limit)).fetchall()
            by_hand.execute("commit")
            return [Reservation.model_validate_json(body) for _, body in found]

        return read

    def status() -> object:
        with store.reading() as tx:
            return tx.reservations.get(REQUESTS - 7), tx.audit.of(REQUESTS - 7, limit=20)

    def status_by_hand() -> object:
        by_hand.execute("begin")
        [(body,)] = by_hand.execute(
            "select body from reservation where id = ?", (REQUESTS - 7,)
        ).fetchall()
        audit = by_hand.execute(
            "select at, actor, action, reservation_id, purchase_id, facts from audit"
            " where reservation_id = ? order by id desc limit 20",
            (REQUESTS - 7,),
        ).fetchall()
        by_hand.execute("commit")
        return Reservation.model_validate_json(body), [_entry(row) for row in reversed(audit)]

    alive = f"state in ({marks})"
    return [
        ("status", status, status_by_hand),
        (
            "list mine",
            listing(requester="U7", limit=25),
            select(
                f"(requester = ? or owner = ?) and {alive}", "U7", "U7", *_LIVE_STATES, limit=25
            ),
        ),
        (
            "list team",
            listing(team="team1", limit=25),
            select(f"team = ? and {alive}", "team1", *_LIVE_STATES, limit=25),
        ),
        ("list all", listing(limit=25), select(alive, *_LIVE_STATES, limit=25)),
        (
            "digest",
            listing(limit=1000, newest_first=False),
            select(alive, *_LIVE_STATES, limit=1000, order="asc"),
        ),
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
    return median(_seconds(ours) / _seconds(theirs) for _ in range(ROUNDS))


def _seconds(read: Callable[[], object]) -> float:
    began = time.perf_counter()
    for _ in range(5):
        read()
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.stdout.write(f"{rows()}\n")
