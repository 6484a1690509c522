"""Opening a file: what is refused with one clear line, and how a schema grows."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest
from sqlite_utils import Database

from bot.domain.errors import SettingsError
from bot.domain.lifecycle import LIVE_RESERVATIONS, ReservationState
from bot.domain.records import Due, Purchase, Reservation
from storage import connections, open_store
from storage.bodies import body_of
from storage.migrations import MIGRATIONS
from tests.contract.store.conftest import Open
from tests.contract.store.samples import NOW, at, due, money, proposed, purchase, reservation

STEPS = [step.name for step in MIGRATIONS.pending(Database(memory=True, execute_plugins=False))]


def _refusal(file: Path) -> str:
    with pytest.raises(SettingsError) as caught:
        open_store(f"sqlite:///{file}")
    line = str(caught.value)
    assert "\n" not in line
    return line.replace(str(file), "FILE")


def test_a_new_file_is_private_and_ready(file: Path, open_again: Open) -> None:
    with open_again().reading() as tx:
        assert tx.reservations.listing() == ()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_relative_address_is_a_file_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    open_store("sqlite:///rel.db").close()
    assert (tmp_path / "rel.db").exists()


@pytest.mark.parametrize(
    "url",
    ["", "sqlite://", "sqlite:///", "sqlite:///:memory:", "gpubot.db", "sqlite:///a.db?mode=ro"],
)
def test_an_address_that_is_no_file_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match=r"sqlite:///gpubot\.db"):
        open_store(url)


def test_the_password_of_another_database_is_not_shown() -> None:
    with pytest.raises(SettingsError) as caught:
        open_store("postgresql://bot:hunter2@db/gpubot")
    assert "hunter2" not in str(caught.value)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert "does not exist; create it" in _refusal(tmp_path / "no" / "gpubot.db")


def test_a_folder_is_no_database(file: Path) -> None:
    file.mkdir()
    assert _refusal(file) == "database FILE: this is a folder; name a file in it"


def test_a_file_of_another_kind_is_refused(file: Path) -> None:
    file.write_text("not a database, but long enough to have a header" * 10)
    assert _refusal(file) == (
        "database FILE: not a SQLite database; name another file or restore a copy"
    )


def test_another_programs_database_is_left_alone(file: Path, beside: sqlite3.Connection) -> None:
    beside.execute("create table song (title text)")
    assert _refusal(file) == ("database FILE: holds another program's tables; name another file")
    assert beside.execute("select name from sqlite_schema").fetchall() == [("song",)]
    assert beside.execute("pragma journal_mode").fetchone() == ("delete",)


def test_a_damaged_file_is_refused(file: Path, open_again: Open) -> None:
    open_again().close()
    whole = file.read_bytes()
    file.write_bytes(whole[:100] + os.urandom(4000) + whole[4100:])
    assert "FILE: damaged" in _refusal(file)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(file: Path) -> None:
    file.touch(mode=0o000)
    assert "may not read and write it" in _refusal(file)


def test_a_locked_file_is_refused(
    file: Path, beside: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_OPENING_SECONDS", 0.05)
    beside.execute("begin exclusive")
    beside.execute("create table t (x)")
    assert _refusal(file) == (
        "database FILE: another program keeps it locked; stop that program and start again"
    )


def test_a_newer_schema_is_refused(
    file: Path, open_again: Open, beside: sqlite3.Connection
) -> None:
    open_again().close()
    beside.execute(
        "insert into _sqlite_migrations (migration_set, name, applied_at)"
        " values ('gpubot', 'm9999_later', '')"
    )
    assert _refusal(file) == (
        "database FILE: written by a newer gpubot (step m9999_later);"
        " start that version, or restore a copy made before it"
    )


def test_a_current_file_opens_while_another_program_writes(
    open_again: Open, beside: sqlite3.Connection
) -> None:
    open_again()
    beside.execute("begin immediate")
    with open_again().reading() as tx:
        assert tx.reservations.listing() == ()


RESERVATION = (
    "insert into reservation (revision, state, requester, owner, team, line, created_at, body)"
    " values (1, 'requested', 'U1', 'U1', 'vision', 'x', '2026-03-02T09:00:00.000000Z', ?)"
)
PURCHASE = (
    "insert into purchase (id, reservation_id, proposal_id, leg, attempt, state, intended_at,"
    " body) values ('gpubot-1', 1, 1, 1, 1, 'intended', '2026-03-02T09:00:00.000000Z', ?)"
)
PROPOSAL = """insert into proposal (reservation_id, state, body)
 values (1, 'expired', '{"state":"expired"}')"""
DUE = (
    "insert into due (key, kind, subject, at, not_before, argument, state) values ('due-1',"
    " 'sweep', 'gpu-1', '2026-03-02T09:00:00.000000Z', '2026-03-02T09:00:00.000000Z', '', 'open')"
)
APPROVAL = """insert into approval (proposal_id, approver, body)
 values (1, 'U2', '{"verdict":"approve"}')"""
ENDED = RESERVATION.replace("'requested'", "'ended'")
SAMPLES: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "m0001_records": [(RESERVATION, (body_of(reservation(revision=1)),)), (PROPOSAL, ())],
    "m0002_ledger": [(PURCHASE, (body_of(purchase(1, 1)),))],
    "m0003_queues": [(DUE, ())],
    "m0004_live": [(ENDED, (body_of(reservation(revision=1, state=ReservationState.ENDED)),))],
    "m0005_figures": [(APPROVAL, ())],
}
"""Rows as each step's own version of gpubot wrote them."""


@pytest.fixture
def grown(file: Path) -> dict[str, Reservation | Purchase | Due]:
    """A file that took every step with rows of its time in it, and what those rows mean."""
    for number, name in enumerate(STEPS):
        database = Database(file, execute_plugins=False)
        MIGRATIONS.apply(database, stop_before=STEPS[number + 1 :][:1])
        with database.atomic():
            for sql, values in SAMPLES[name]:
                database.conn.execute(sql, values)
        database.close()
    return {
        "reservation": reservation(id=1, revision=1),
        "purchase": purchase(1, 1),
        "due": due(at=NOW),
    }


def test_every_step_has_a_row_of_its_time() -> None:
    assert list(SAMPLES) == STEPS


def test_rows_of_every_step_are_read_by_this_version(
    grown: dict[str, Reservation | Purchase | Due], open_again: Open
) -> None:
    with open_again().transaction() as tx:
        assert tx.reservations.get(1) == grown["reservation"]
        assert tx.purchases.get("gpubot-1") == grown["purchase"]
        assert tx.dues.claim(now=NOW, lease=at(1) - NOW, limit=9) == (grown["due"],)
        assert tx.proposals.current(7) is None
        live = tx.reservations.listing(states=LIVE_RESERVATIONS)
        assert live == (grown["reservation"],)
        figures = tx.counts.figures(now=NOW, since=NOW, until=at(1))
        assert (figures.verdicts, figures.proposals) == ({"approve": 1}, {"expired": 1})


def test_a_step_that_fails_leaves_the_file_as_it_was(
    file: Path, open_again: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Database) -> None:
        raise sqlite3.OperationalError("disk full")

    last = MIGRATIONS._migrations[-1]  # noqa: SLF001 - there is no other way to break a step
    monkeypatch.setattr(last, "fn", broken)
    assert _refusal(file) == "database FILE: cannot be used (disk full)"
    monkeypatch.undo()
    with open_again().transaction() as tx:
        tx.budget.hold(money(proposed(tx)[0]))
