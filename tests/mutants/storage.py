"""One broken rule of the stores at a time; the stores' tests must turn red on each."""

from tests.mutants.run import Mutant

TESTS: tuple[str, ...] = ("tests/unit/storage", "tests/contract/store")

_RECORDS = "storage/sqlite_records.py"
_LEDGER = "storage/sqlite_ledger.py"
_QUEUES = "storage/sqlite_queues.py"
_BOOKS = "storage/sqlite_books.py"
_STORE = "storage/sqlite.py"
_SCHEMA = "storage/migrations.py"
_RECORDER = "storage/recorder.py"
_CONNECTIONS = "storage/connections.py"
_HOLDERS = "storage/holders.py"
_SESSION = "storage/session.py"
_BODIES = "storage/bodies.py"
_TURNS = "storage/turns.py"
_OVERLAP = "storage/overlap.py"
_MOVING = "storage/moving.py"
_SYNCING = "storage/syncing.py"
_FIGURES = "storage/sqlite_figures.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "due rows of a live reservation are forgotten",
        _QUEUES,
        'f" and reservation.id = cast(substr(due.subject, 5) as integer) and {LIVE})"',
        'f" and reservation.id = cast(substr(due.subject, 5) as integer) and not {LIVE})"',
    ),
    Mutant(
        "messages about a live reservation are forgotten",
        _QUEUES,
        "'$.reservation_id') and {LIVE})\"",
        "'$.reservation_id') and false and {LIVE})\"",
    ),
    Mutant(
        "open due rows are forgotten",
        _QUEUES,
        "where state <> 'open' and at < ? and not exists",
        "where (state <> 'open' or true) and at < ? and not exists",
    ),
    Mutant(
        "messages about nothing are forgotten early",
        _QUEUES,
        "min(?1, ?2), ?1)",
        "?1, ?1)",
    ),
    Mutant(
        "the last message is forgotten, and order with it",
        _QUEUES,
        " and position < (select max(position) from outbox) limit ?3)",
        " and position > ?3 - ?3 limit ?3)",
    ),
    Mutant(
        "deliveries that nobody worked on are forgotten",
        _QUEUES,
        "where state = 'done' and received_at < ? limit ?)",
        "where (state = 'done' or true) and received_at < ? limit ?)",
    ),
    Mutant(
        "figures count late deliveries as waiting",
        _FIGURES,
        "from inbox where state = 'waiting' and late = 0",
        "from inbox where state = 'waiting'",
    ),
    Mutant(
        "figures count money of other months",
        _FIGURES,
        "where held_at >= ? and held_at < ? and state = 'committed'",
        "where held_at >= ? and held_at > ? and state = 'committed'",
    ),
    Mutant(
        "freed money counts as spent",
        _LEDGER,
        "held_at < ? and state <> 'freed'",
        "held_at < ? and true",
    ),
    Mutant(
        "money that a new amount stands for counts twice",
        _LEDGER,
        "{whose} and purchase_key not in ({marks(len(apart))})",
        "{whose} and (true or purchase_key not in ({marks(len(apart))}))",
    ),
    Mutant(
        "a stale writer wins",
        _RECORDS,
        "if row[0] != reservation.revision:",
        "if row[0] is None:",
    ),
    Mutant(
        "any step of a reservation is legal",
        _RECORDS,
        "check_reservation_step(ReservationState(text(row[1])), reservation.state)",
        "ReservationState(text(row[1]))",
    ),
    Mutant(
        "a listing by requester misses what one owns",
        _RECORDS,
        '("owner", asked.requester)',
        '("requester", asked.requester)',
    ),
    Mutant(
        "live rows are searched among all ended ones",
        _RECORDS,
        "if not live:",
        "if live or not live:",
    ),
    Mutant(
        "a listing by team walks every team",
        _RECORDS,
        '[("team", asked.team)]',
        '[("", "")]',
    ),
    Mutant(
        "the index of live rows leaves some out",
        _SCHEMA,
        """create index reservation_live on reservation (id)
  where state not in ('ended', 'declined',""",
        """create index reservation_live on reservation (id)
  where state not in ('active', 'ended', 'declined',""",
    ),
    Mutant(
        "a unit of work goes on before its commit is on disk",
        _STORE,
        "if changed:",
        "if changed and self._writable is None:",
    ),
    Mutant(
        "a sync that ran before a commit counts for it",
        _SYNCING,
        "mine = self._begun + 1",
        "mine = self._begun",
    ),
    Mutant(
        "writing goes on over a disk that did not confirm",
        _SYNCING,
        "self._failure = error",
        "del error",
    ),
    Mutant(
        "a disk that does not confirm leaves the health page well",
        _STORE,
        "        self._connections.syncing.check()\n        if self._writable:",
        "        if self._writable:\n            self._connections.syncing.check()",
    ),
    Mutant(
        "a sync that was broken off counts for who waited",
        _SYNCING,
        "interrupted = True",
        "interrupted = False",
    ),
    Mutant(
        "writing goes on in a log that was removed",
        _SYNCING,
        "if self._failure is None and self._is_removed():",
        "if self._failure is not None and self._is_removed():",
    ),
    Mutant(
        "a database behind a link is not synced",
        _CONNECTIONS,
        "self._path = path.resolve()",
        "self._path = path; Path(f'{path}-wal').touch()",
    ),
    Mutant(
        "what a killed process left hangs in the log",
        _CONNECTIONS,
        "wal_checkpoint(passive)",
        "wal_autocheckpoint",
    ),
    Mutant(
        "a delivery is acknowledged before it is on disk",
        _RECORDER,
        "self._connections.syncing.wait()",
        "pass",
    ),
    Mutant(
        "a settled proposal moves again",
        _RECORDS,
        "where id = ? and state = 'open'",
        "where id = ?",
    ),
    Mutant(
        "a second live purchase of a leg is taken",
        _SCHEMA,
        "create unique index purchase_one_live",
        "create index purchase_one_live",
    ),
    Mutant(
        "a doubtful purchase does not block its leg",
        _SCHEMA,
        "where state in ('intended', 'submitted', 'indeterminate', 'confirmed')",
        "where state in ('intended', 'submitted', 'confirmed')",
    ),
    Mutant(
        "the database lets a refused purchase be confirmed",
        _SCHEMA,
        "'intended>submitted', 'intended>withdrawn'",
        "'refused>confirmed', 'intended>submitted', 'intended>withdrawn'",
    ),
    Mutant(
        "two proposals may be open",
        _SCHEMA,
        "create unique index proposal_one_open",
        "create index proposal_one_open",
    ),
    Mutant(
        "the audit can be changed",
        _SCHEMA,
        "create trigger audit_unchanged before update on audit",
        "create trigger audit_unchanged before update of hash on audit",
    ),
    Mutant(
        "a body may show another state than its row",
        _SCHEMA,
        "  intended_at text not null,\n"
        "  body text not null check (json_extract(body, '$.state') = state)",
        "  intended_at text not null,\n  body text not null",
    ),
    Mutant(
        "any step of a purchase is asked of the database",
        _LEDGER,
        "        check_purchase_step(stored.state, to)\n",
        "",
    ),
    Mutant(
        "a stale mover of a purchase wins",
        _LEDGER,
        "if stored.state is not purchase.state:",
        "if stored.id != purchase.id:",
    ),
    Mutant(
        "an unclear purchase counts as settled",
        _MOVING,
        "        PurchaseState.CONFIRMED,\n",
        "        PurchaseState.CONFIRMED,\n        PurchaseState.INDETERMINATE,\n",
    ),
    Mutant(
        "a stale look at a receipt wins",
        _LEDGER,
        '" where id = ? and revision = ? and reservation_id = ?"',
        '" where id = ? and ? is not null and reservation_id = ?"',
    ),
    Mutant("held money is held again", _LEDGER, "\" where state = 'freed'\"", '" where true"'),
    Mutant(
        "settled money takes another amount",
        _LEDGER,
        "elif after != stored:",
        'elif stored.state == "freed":',
    ),
    Mutant(
        "loans may exceed what is free",
        _LEDGER,
        "if held + count > free:",
        "if held > free:",
    ),
    Mutant(
        "a loan that ends overlaps one that starts",
        _OVERLAP,
        "sorted(steps)",
        "sorted(steps, key=lambda step: (step[0], -step[1]))",
    ),
    Mutant(
        "the dead keep their rows",
        _HOLDERS,
        "return rest == own_rest or not _runs(int(rest))",
        "return False",
    ),
    Mutant(
        "an earlier process with our number keeps its rows",
        _HOLDERS,
        "return rest == own_rest or not _runs(int(rest))",
        "return not _runs(int(rest))",
    ),
    Mutant(
        "processes of other hosts are judged",
        _HOLDERS,
        "or not host or host != own_host or",
        "or not host or",
    ),
    Mutant(
        "a claimed due is claimed again",
        _QUEUES,
        "and not_before <= ? and (holder is null or held_until <= ?)",
        "and not_before <= ? and ? is not null",
    ),
    Mutant(
        "a lane lets two out at once",
        _QUEUES,
        "((other.holder is not null and other.held_until > :now)",
        "((false)",
    ),
    Mutant(
        "a failed message lets later ones pass",
        _QUEUES,
        "(other.attempt > 0 or other.not_before <= :now)",
        "(other.not_before <= :now)",
    ),
    Mutant(
        "a message that left is not in doubt",
        _QUEUES,
        "attempt = attempt + 1, doubt = 1,",
        "attempt = attempt + 1, doubt = 0,",
    ),
    Mutant(
        "a redraw that came meanwhile is lost",
        _QUEUES,
        "state = iif(again, 'waiting', 'sent')",
        "state = iif(again, 'sent', 'sent')",
    ),
    Mutant(
        "a late delivery is worked on",
        _QUEUES,
        "where state = 'waiting' and late = 0\"\n            \" and (holder",
        "where state = 'waiting'\"\n            \" and (holder",
    ),
    Mutant(
        "the chain does not hang together",
        _BOOKS,
        "previous = chain.FIRST if last is None else text(last[0])",
        "previous = chain.FIRST",
    ),
    Mutant(
        "a lost end of the audit is not seen",
        _BOOKS,
        "last = expected - 1 if given is None else number(given[0])",
        "last = expected - 1",
    ),
    Mutant(
        "a reading unit writes",
        _SESSION,
        "if not self._writable:",
        "if self._writable is None:",
    ),
    Mutant(
        "a unit that has ended is used",
        _STORE,
        "            self._session.end()\n",
        "",
    ),
    Mutant(
        "a unit of work begins without the write lock",
        _STORE,
        '"begin immediate"',
        '"begin"',
    ),
    Mutant(
        "who gave up is stored later",
        _RECORDER,
        "                    self._queue.remove(entry)\n",
        "",
    ),
    Mutant(
        "the writer refuses at once what it cannot write at once",
        _RECORDER,
        "            if not self._try_once() and closing:",
        "            if not self._try_once() and not closing:",
    ),
    Mutant(
        "a newer schema is opened",
        _CONNECTIONS,
        "    if later:\n",
        "    if not applied:\n",
    ),
    Mutant(
        "another program's tables are joined",
        _CONNECTIONS,
        'if tables and "_sqlite_migrations" not in tables:',
        "if not tables and path.is_dir():",
    ),
    Mutant(
        "rates are rounded in what is kept",
        _BODIES,
        "to_json(value.model_dump())",
        'to_json(value.model_dump(mode="json"))',
    ),
    Mutant(
        "times lose their width",
        _BODIES,
        '.isoformat(timespec="microseconds")',
        ".isoformat()",
    ),
    Mutant(
        "a turn is taken twice by one thread",
        _TURNS,
        "if self._holder == me:",
        "if self._holder == -me:",
    ),
)
