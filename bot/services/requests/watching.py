"""Watches: a person is told once when capacity that fits comes on sale. Nothing is bought or held.

A live watch is the fact "watch:<id>"; one that is over is kept as "watched:<id>", because its
button still files the request. Each look is a due row, and only the one that the watch names
counts, so that a look which is carried out twice neither speaks nor plans twice.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.base import Model
from bot.domain.decision import Decision
from bot.domain.errors import NotAllowedError, UnknownRecordError, UserError
from bot.domain.records import AuditEntry, Due, gpu_id
from bot.domain.request import Parsed, Request, Status
from bot.domain.values import Instant
from bot.ports import Bell, Clock, Store, Transaction
from bot.services.requests.asking import Asker
from bot.services.requests.quoting import Quoting
from bot.services.requests.watch_words import ended_words, found_presses, found_words
from bot.services.words.telling import Telling

STEP = "watch"
PACE = timedelta(minutes=30)
LATER_PACE = timedelta(hours=1)
FIRST_DAY = timedelta(days=1)
LONGEST = timedelta(days=14)
MOST_WATCHES = 10
"""Live watches of one person; every one of them reads the market for weeks."""

_LIVE = "watch:"
_OVER = "watched:"
_LAST = "watches"


class Watch(Model):
    """One watch. `line` begins with "watch"; `unread` says that some look was not complete.

    `next_at` is when it looks next, `reservation` what was filed from it.
    """

    id: int
    who: str
    workspace: str
    channel: str
    zone: str
    locale: str
    request: Request
    line: str
    filed_at: Instant
    until: Instant
    next_at: Instant
    unread: bool = False
    reservation: int | None = None

    @property
    def order(self) -> str:
        """Return the line that asks for what was watched for."""
        return f"reserve {_parts(self.line)}"

    @property
    def meant(self) -> Parsed:
        """Return the order as understood when it was said: "after Monday" may have passed since."""
        return Parsed(
            status=Status.OK,
            command="reserve",
            id=None,
            arguments={},
            request=self.request,
            line=self.order,
            echo=None,
            questions=(),
            problem=None,
        )

    @property
    def asker(self) -> Asker:
        """Return who asks when the request is filed from it."""
        return Asker(
            user=self.who,
            workspace=self.workspace,
            channel=self.channel,
            zone=self.zone,
            locale=self.locale,
        )

    @property
    def due(self) -> Due:
        """Return the row of its next look."""
        return Due(
            key=f"watch:{self.id}:{self.next_at.isoformat()}",
            kind=STEP,
            subject=f"watch-{self.id}",
            at=self.next_at,
            argument=str(self.id),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """Looks at the market for people, every half hour and after a day every hour."""

    store: Store
    clock: Clock
    quoting: Quoting
    telling: Telling
    bell: Bell

    def watch(self, request: Request, line: str, *, by: Asker) -> int:
        """Store a watch and have it looked at once; return its number.

        The same line of the same person is one watch. Raises UserError when the time that was
        asked for has passed, or when the person has as many watches as there may be.
        """
        now = self.clock.now()
        line = f"watch {_parts(line)}"
        until = _until(request, now + LONGEST)
        if until <= now:
            raise UserError("The time you ask for has passed.", hint="help watch")
        with self.store.transaction() as tx:
            mine = [one for one in _live(tx) if one.who == by.user]
            for one in mine:
                if one.line == line:
                    return one.id
            if len(mine) >= MOST_WATCHES:
                raise UserError(
                    f"You have {MOST_WATCHES} watches, and that is the most. Send the line of one"
                    " that you no longer need once more and press Stop watching; the oldest is:",
                    hint=min(mine, key=lambda one: one.id).line,
                )
            number = int(tx.facts.get(_LAST) or 0) + 1
            watch = Watch(
                id=number,
                who=by.user,
                workspace=by.workspace,
                channel=by.channel,
                zone=by.zone,
                locale=by.locale,
                request=request,
                line=line,
                filed_at=now,
                until=until,
                next_at=now,
            )
            tx.facts.put(_LAST, str(number), at=now)
            _keep(tx, watch, now)
            tx.dues.plan(watch.due)
            _audit(tx, watch, by.user, "watch.filed", now)
        self.bell.ring()
        return number

    def look(self, due: Due) -> str:
        """Read the market once for a watch (due kind "watch"); return what was done."""
        number = int(due.argument)
        with self.store.reading() as tx:
            watch = _planned(tx, number, due)
        if watch is None:
            return "over, or looked already"
        decision: Decision | None = None
        if self.clock.now() < watch.until:
            _, decision = self.quoting.plan(watch.request, zone=watch.zone, requester=watch.who)
        now = self.clock.now()
        with self.store.transaction() as tx:
            watch = _planned(tx, number, due)
            if watch is None:
                return "over, or looked already"
            outcome = self._settle(tx, watch, decision, now)
        self.bell.ring()
        return outcome

    def stop(self, watch_id: int, *, by: str) -> str:
        """End a watch; return a sentence. Raises NotAllowedError, UserError if there is none."""
        now = self.clock.now()
        with self.store.transaction() as tx:
            watch = self._own(tx, watch_id, by)
            if tx.facts.get(f"{_LIVE}{watch_id}") is None:
                return "That watch is over already."
            _end(tx, watch, by, "watch.stopped", now)
        return "I no longer watch for it. Nothing was bought or held."

    def found(self, watch_id: int, *, by: str) -> Watch:
        """Return a watch, live or over, to ask for what it was about.

        Raises NotAllowedError for anybody else, UserError when it was asked for already, when its
        time has passed, or when a length must be said first.
        """
        with self.store.reading() as tx:
            watch = self._own(tx, watch_id, by)
        request = watch.request
        if watch.reservation is not None:
            name = gpu_id(watch.reservation)
            raise UserError(f"That was filed already, as {name}.", hint=f"status {name}")
        now = self.clock.now()
        if _until(request, now + LONGEST) <= now:
            raise UserError("The time you asked for has passed.", hint="help reserve")
        if request.duration_hours is None:
            raise UserError("Please say for how long.", hint=f"{watch.order} for 1 day")
        return watch

    def filed(self, watch_id: int, reservation_id: int, *, by: str) -> None:
        """Remember what was filed from a watch, which ends it."""
        now = self.clock.now()
        with self.store.transaction() as tx:
            watch = self._own(tx, watch_id, by)
            kept = watch.model_copy(update={"reservation": reservation_id})
            _end(tx, kept, by, "watch.used", now)

    def _settle(
        self, tx: Transaction, watch: Watch, decision: Decision | None, now: datetime
    ) -> str:
        pick = decision.pick if decision is not None else None
        if pick is not None:
            self.telling.tell(
                tx,
                watch.who,
                f"watch-{watch.id}:found",
                found_words(pick, watch.line),
                now=now,
                presses=found_presses(watch.id),
            )
            _end(tx, watch, "engine", "watch.found", now)
            return "found"
        unread = watch.unread or (decision is not None and bool(decision.not_read))
        if now >= watch.until:
            self.telling.tell(
                tx,
                watch.who,
                f"watch-{watch.id}:ended",
                ended_words(watch.line, unread=unread),
                now=now,
            )
            _end(tx, watch, "engine", "watch.ended", now)
            return "ended"
        pace = PACE if now - watch.filed_at < FIRST_DAY else LATER_PACE
        on = watch.model_copy(update={"next_at": min(now + pace, watch.until), "unread": unread})
        _keep(tx, on, now)
        tx.dues.plan(on.due)
        return "not all could be read" if decision and decision.not_read else "nothing yet"

    def _own(self, tx: Transaction, watch_id: int, by: str) -> Watch:
        body = tx.facts.get(f"{_LIVE}{watch_id}") or tx.facts.get(f"{_OVER}{watch_id}")
        if body is None:
            raise UnknownRecordError(f"no watch {watch_id}")
        watch = Watch.model_validate_json(body)
        if watch.who != by:
            raise NotAllowedError("Only the person who set this watch may use it.")
        return watch


def _parts(line: str) -> str:
    """Return the line without its verb."""
    return line.partition(" ")[2]


def _until(request: Request, longest: datetime) -> datetime:
    """Return when nothing can be had any more, at the latest `longest`."""
    ends = [longest, request.latest_start, request.latest_end]
    return min(end for end in ends if end is not None)


def _live(tx: Transaction) -> list[Watch]:
    return [Watch.model_validate_json(body) for body in tx.facts.starting_with(_LIVE).values()]


def _planned(tx: Transaction, watch_id: int, due: Due) -> Watch | None:
    """Return the live watch whose next look is that very row."""
    body = tx.facts.get(f"{_LIVE}{watch_id}")
    watch = Watch.model_validate_json(body) if body is not None else None
    return watch if watch is not None and watch.due.key == due.key else None


def _keep(tx: Transaction, watch: Watch, now: datetime) -> None:
    tx.facts.put(f"{_LIVE}{watch.id}", watch.model_dump_json(), at=now)


def _end(tx: Transaction, watch: Watch, by: str, action: str, now: datetime) -> None:
    tx.facts.drop(f"{_LIVE}{watch.id}")
    tx.facts.put(f"{_OVER}{watch.id}", watch.model_dump_json(), at=now)
    tx.dues.withdraw(watch.due.subject)
    _audit(tx, watch, by, action, now)


def _audit(tx: Transaction, watch: Watch, by: str, action: str, now: datetime) -> None:
    tx.audit.append(
        AuditEntry(
            at=now,
            actor=by,
            action=action,
            reservation_id=watch.reservation,
            facts={"watch": str(watch.id), "who": watch.who, "line": watch.line},
        )
    )
