"""The schema, as steps that are applied once and never edited afterwards."""

import sqlite3

from sqlite_utils import Database, Migrations

MIGRATIONS = Migrations("gpubot")

_RECORDS = """
create table reservation (
  id integer primary key autoincrement,
  revision integer not null check (revision > 0),
  state text not null check (state in (
    'requested', 'quoted', 'pending_approval', 'approved', 'purchasing', 'payment_pending',
    'scheduled', 'active', 'ended', 'declined', 'expired', 'cancelled', 'blocked', 'failed',
    'needs_review', 'shadowed')),
  requester text not null,
  owner text not null,
  team text,
  line text not null,
  created_at text not null,
  body text not null check (json_extract(body, '$.state') = state)
) strict;
create index reservation_by_requester on reservation (requester);
create index reservation_by_owner on reservation (owner);
create index reservation_by_team on reservation (team);
create index reservation_by_state on reservation (state);
create index reservation_by_team_and_state on reservation (team, state);
create index reservation_by_filing on reservation (requester, created_at);

create table decision (
  id integer primary key autoincrement,
  reservation_id integer not null references reservation (id),
  version integer not null,
  decided_at text not null,
  body text not null
) strict;
create index decision_by_reservation on decision (reservation_id);
create trigger decision_stays before update on decision
  begin select raise(abort, 'a decision never changes'); end;

create table proposal (
  id integer primary key autoincrement,
  reservation_id integer not null references reservation (id),
  state text not null check (state in ('open', 'approved', 'denied', 'expired', 'superseded')),
  body text not null check (json_extract(body, '$.state') = state)
) strict;
create index proposal_by_reservation on proposal (reservation_id);
create unique index proposal_one_open on proposal (reservation_id) where state = 'open';
create trigger proposal_step before update of state on proposal
  when old.state <> 'open'
  begin select raise(abort, 'a settled proposal never changes'); end;

create table approval (
  id integer primary key autoincrement,
  proposal_id integer not null references proposal (id),
  approver text not null,
  body text not null,
  unique (proposal_id, approver)
) strict;
"""

_LEDGER = """
create table purchase (
  id text primary key,
  reservation_id integer not null references reservation (id),
  proposal_id integer not null references proposal (id),
  leg integer not null,
  attempt integer not null,
  state text not null check (state in (
    'intended', 'submitted', 'confirmed', 'refused', 'indeterminate', 'withdrawn', 'shadowed')),
  intended_at text not null,
  body text not null check (json_extract(body, '$.state') = state)
) strict;
create index purchase_by_reservation on purchase (reservation_id, leg, attempt);
create index purchase_by_state on purchase (state, intended_at);
create index purchase_by_time on purchase (intended_at);
create unique index purchase_one_live on purchase (reservation_id, leg)
  where state in ('intended', 'submitted', 'indeterminate', 'confirmed');
create trigger purchase_start before insert on purchase
  when new.state <> 'intended'
  begin select raise(abort, 'a purchase starts as intended'); end;
create trigger purchase_step before update of state on purchase
  when old.state || '>' || new.state not in (
    'intended>submitted', 'intended>withdrawn', 'intended>shadowed',
    'submitted>confirmed', 'submitted>refused', 'submitted>indeterminate',
    'indeterminate>confirmed', 'indeterminate>refused')
  begin select raise(abort, 'this step of a purchase is not in the table'); end;
create trigger purchase_same before update of id, reservation_id, proposal_id, leg on purchase
  when (old.id, old.reservation_id, old.proposal_id, old.leg)
    <> (new.id, new.reservation_id, new.proposal_id, new.leg)
  begin select raise(abort, 'a purchase never changes its leg'); end;
create trigger purchase_stays before delete on purchase
  begin select raise(abort, 'a purchase is never deleted'); end;

create table receipt (
  number integer primary key autoincrement,
  id text not null unique,
  revision integer not null check (revision > 0),
  reservation_id integer not null references reservation (id),
  body text not null
) strict;
create index receipt_by_reservation on receipt (reservation_id);

create table budget (
  purchase_key text primary key,
  reservation_id integer not null references reservation (id),
  team text,
  amount text not null,
  state text not null check (state in ('held', 'committed', 'freed')),
  held_at text not null
) strict;
create index budget_by_time on budget (held_at);
create index budget_by_team on budget (team, held_at);
create index budget_by_reservation on budget (reservation_id);

create table loan (
  id integer primary key autoincrement,
  reservation_id integer not null references reservation (id),
  ref text not null,
  count integer not null check (count > 0),
  start_at text not null,
  end_at text not null,
  check (start_at < end_at)
) strict;
create index loan_by_ref on loan (ref, end_at);
create index loan_by_reservation on loan (reservation_id);

create table audit (
  id integer primary key autoincrement,
  at text not null,
  actor text not null,
  action text not null,
  reservation_id integer,
  purchase_id text,
  facts text not null,
  previous text not null,
  hash text not null unique
) strict;
create index audit_by_reservation on audit (reservation_id) where reservation_id is not null;
create trigger audit_unchanged before update on audit
  begin select raise(abort, 'the audit is append-only'); end;
create trigger audit_stays before delete on audit
  begin select raise(abort, 'the audit is append-only'); end;
"""

_QUEUES = """
create table due (
  id integer primary key autoincrement,
  key text not null unique,
  kind text not null,
  subject text not null,
  at text not null,
  not_before text not null,
  argument text not null,
  stale_after text,
  state text not null check (state in ('open', 'done', 'withdrawn')),
  outcome text not null default '',
  settled_at text,
  holder text,
  held_until text,
  check ((holder is null) = (held_until is null))
) strict;
create index due_open on due (not_before) where state = 'open';
create index due_open_by_subject on due (subject) where state = 'open';
create index due_held on due (holder) where holder is not null;

create table outbox (
  id integer primary key autoincrement,
  key text not null unique,
  lane text not null,
  thread text,
  position integer not null,
  announcement text not null,
  state text not null check (state in ('waiting', 'sent', 'dropped')),
  attempt integer not null default 0,
  doubt integer not null default 0 check (doubt in (0, 1)),
  again integer not null default 0 check (again in (0, 1)),
  not_before text not null,
  created_at text not null,
  settled_at text,
  error text not null default '',
  channel text,
  ts text,
  holder text,
  held_until text,
  check ((channel is null) = (ts is null)),
  check ((holder is null) = (held_until is null))
) strict;
create unique index outbox_position on outbox (position);
create index outbox_waiting on outbox (position) where state = 'waiting';
create index outbox_lane on outbox (lane, position) where state = 'waiting';
create index outbox_held on outbox (holder) where holder is not null;

create table inbox (
  id integer primary key autoincrement,
  key text not null unique,
  kind text not null check (kind in ('command', 'action', 'submission', 'event')),
  body text not null,
  received_at text not null,
  late integer not null check (late in (0, 1)),
  state text not null default 'waiting' check (state in ('waiting', 'done')),
  outcome text not null default '',
  holder text,
  held_until text,
  check ((holder is null) = (held_until is null))
) strict;
create index inbox_waiting on inbox (id) where state = 'waiting' and late = 0;
create index inbox_held on inbox (holder) where holder is not null;

create table fact (
  name text primary key,
  value text not null,
  at text not null
) strict, without rowid;
"""

_LIVE = """
create index reservation_live on reservation (id)
  where state not in ('ended', 'declined', 'expired', 'cancelled', 'failed', 'shadowed');
create index reservation_live_by_requester on reservation (requester, id)
  where state not in ('ended', 'declined', 'expired', 'cancelled', 'failed', 'shadowed');
create index reservation_live_by_owner on reservation (owner, id)
  where state not in ('ended', 'declined', 'expired', 'cancelled', 'failed', 'shadowed');
create index reservation_live_by_team on reservation (team, id)
  where state not in ('ended', 'declined', 'expired', 'cancelled', 'failed', 'shadowed');
drop index reservation_by_state;
drop index reservation_by_team_and_state;
"""

_FIGURES = """
create index approval_denied on approval (proposal_id)
  where json_extract(body, '$.verdict') = 'deny';
create index proposal_by_state on proposal (state);
create index budget_held on budget (team) where state = 'held';
create index due_over on due (at) where state <> 'open';
create index outbox_over on outbox (settled_at)
  where state <> 'waiting'
    and json_extract(announcement, '$.kind') in ('note', 'whisper', 'digest');
create index inbox_over on inbox (received_at) where state = 'done';
"""


def _run(db: Database, script: str) -> None:
    # Not executescript: it commits first, which would end the step's own transaction.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if statement.strip() and sqlite3.complete_statement(statement):
            db.conn.execute(statement)
            statement = ""


@MIGRATIONS()
def m0001_records(db: Database) -> None:
    """Create reservations, decisions, proposals and approvals."""
    _run(db, _RECORDS)


@MIGRATIONS()
def m0002_ledger(db: Database) -> None:
    """Create purchases, receipts, money, loans and the audit."""
    _run(db, _LEDGER)


@MIGRATIONS()
def m0003_queues(db: Database) -> None:
    """Create what falls due, what is to be said, what came in, and small facts."""
    _run(db, _QUEUES)


@MIGRATIONS()
def m0004_live(db: Database) -> None:
    """Give live reservations indexes of their own, so that ended ones never cost a screen."""
    _run(db, _LIVE)


@MIGRATIONS()
def m0005_figures(db: Database) -> None:
    """Count by index what operators watch, and find by index what can be forgotten."""
    _run(db, _FIGURES)
