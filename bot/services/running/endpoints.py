"""SageMaker endpoints on a training plan: made, followed, shown, deleted.

One create leaves for each intent: the stage is committed before the call, and after doubt the
books are read before anything is sent again. The name comes from the installation and the
reservation, so that every attempt means the same endpoint and SageMaker refuses a second one.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.ending import usable
from bot.domain.errors import UserError
from bot.domain.lifecycle import LIVE_RESERVATIONS
from bot.domain.market import Kind
from bot.domain.records import AuditEntry, Due, Receipt, Reservation, gpu_id
from bot.domain.request import Target
from bot.domain.saying import Press, Section
from bot.domain.using import EndpointOrder, EndpointRecord, EndpointStage
from bot.domain.values import how_many, utc_text
from bot.policy.configuration import Configuration
from bot.policy.permitting import check_concerned, check_fit
from bot.ports import Bell, Clock, Endpoints, Store, Transaction
from bot.services.reservations.looking import lost_of
from bot.services.running import endpoint_words as words
from bot.services.running.endpoint_stages import (
    OVER,
    WORKING,
    Stages,
    entered,
    next_look,
    record_name,
    record_of,
)
from bot.services.verifying import Verifying
from bot.services.words.announcing import say

STEP = "endpoint"
END = "endpoint-end"
WARNING = timedelta(minutes=60)
_E = EndpointStage


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointKeeping:
    """Keeps at most one endpoint for each reservation."""

    store: Store
    clock: Clock
    endpoints: Endpoints
    stages: Stages
    verifying: Verifying
    configuration: Configuration
    bell: Bell

    # --- what people ask for -------------------------------------------------------------------

    def create(
        self, reservation_id: int | None, *, model: str, count: int | None, by: str
    ) -> tuple[Section, ...]:
        """Order the endpoint and return what happens next; the work is done by due rows.

        Without a reservation, the person's one plan for endpoints is meant. Raises
        NotAllowedError, or UserError when there is no such plan or an endpoint already.
        """
        check_fit(self.verifying.standing(by))
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation, receipt = self._plan_of(tx, reservation_id, by)
            check_concerned(reservation, by, self.configuration)
            before = record_of(tx, reservation.id)
            if before is not None and before.stage is not _E.GONE:
                raise UserError(
                    f"{gpu_id(reservation.id)} has the endpoint {before.order.name} already.",
                    hint=f"endpoint delete {gpu_id(reservation.id)}",
                )
            machines = receipt.total_count or receipt.instance_count
            if not 1 <= (count or machines) <= machines:
                raise UserError(
                    f"The plan holds {how_many(machines, 'machine')}; an endpoint takes"
                    f" {'just that' if machines == 1 else f'1 to {machines}'}.",
                    hint=f"endpoint create {gpu_id(reservation.id)} {model} x{machines}",
                )
            order = EndpointOrder(
                name=endpoint_name(receipt.purchase_id, reservation.id),
                account=receipt.account,
                region=receipt.region,
                plan_arn=receipt.id.partition("#")[0],
                instance_type=receipt.instance_type,
                count=count or machines,
                model=model,
                reservation_id=reservation.id,
                purchase_id=receipt.purchase_id,
                owner=reservation.owner,
            )
            record = EndpointRecord(
                order=order, stage=_E.WAITING, asked_by=by, asked_at=now, changed_at=now
            )
            self._keep(tx, record, now, actor=by)
            self._again(tx, record, now)
        self.bell.ring()
        return words.sections(
            words.stage_words(record), ("I make it as soon as the plan is Active, and say so.",)
        )

    def status(
        self, reservation_id: int | None, *, by: str, named: str | None = None
    ) -> tuple[Section, ...]:
        """Return what SageMaker shows of the endpoint now. Raises UserError, MarketError."""
        with self.store.reading() as tx:
            reservation_id = reservation_id or self._meant(tx, named, by).id
            record = record_of(tx, reservation_id)
            state = tx.reservations.get(reservation_id).state
        if record is None:
            name = gpu_id(reservation_id)
            if state not in LIVE_RESERVATIONS:
                raise UserError(
                    f"{name} is {state.replace('_', ' ')} and has no endpoint.",
                    hint=f"status {name}",
                )
            raise UserError(
                f"{name} has no endpoint.", hint=f"endpoint create {name} your-model-name"
            )
        view = self.endpoints.look(record.order)
        if view is not None:
            record = record.model_copy(update={"used": view.used, "total": view.total})
        shown = f"SageMaker says {view.status}." if view else "SageMaker shows no such endpoint."
        return words.sections(words.stage_words(record), (shown,), *words.use_words(record))

    def delete(
        self, reservation_id: int | None, *, by: str, named: str | None = None
    ) -> tuple[Section, ...]:
        """Have endpoint and configuration deleted, of the reservation or the model named.

        Raises NotAllowedError, UserError.
        """
        check_fit(self.verifying.standing(by))
        now = self.clock.now()
        with self.store.transaction() as tx:
            reservation = (
                tx.reservations.get(reservation_id)
                if reservation_id is not None
                else self._meant(tx, named, by)
            )
            check_concerned(reservation, by, self.configuration)
            record = record_of(tx, reservation.id)
            if record is None or record.stage is _E.GONE:
                raise UserError(f"{gpu_id(reservation.id)} has no endpoint.")
            record = self.begin_deletion(tx, record, now, actor=by)
        self.bell.ring()
        return words.sections(words.stage_words(record))

    # --- due steps -----------------------------------------------------------------------------

    def step(self, due: Due) -> str:
        """Take the endpoint one stage further; return what was done, for the log."""
        with self.store.reading() as tx:
            record = record_of(tx, int(due.argument))
        if record is None or record.stage not in WORKING:
            return "nothing to do"
        receipt = self._receipt(record)
        after = self.stages.advance(record, receipt)
        now = self.clock.now()
        with self.store.transaction() as tx:
            current = record_of(tx, record.order.reservation_id)
            if current is None or current.stage is not record.stage:
                return "another step was faster"
            self._keep(tx, after, now, actor="gpubot", before=current)
            if after.stage in WORKING:
                moved = after.stage is not record.stage
                self._again(tx, after, now if moved else next_look(after, receipt, now))
        if after.stage is not record.stage:
            self.bell.ring()
        return f"{record.stage} -> {after.stage}"

    def end(self, due: Due) -> str:
        """Warn an hour before the plan's end, and delete at the end; both move with the plan."""
        what, number = due.argument.split("|")
        now = self.clock.now()
        with self.store.transaction() as tx:
            record = record_of(tx, int(number))
            if record is None or record.stage in {_E.GONE, _E.DELETING, _E.UNCONFIGURING}:
                return "nothing to do"
            until = self._until(tx, record)
            if until is None:
                return "the plan has no end yet"
            at = until - WARNING if what == "warn" else until
            if now < at:
                self._plan_end(tx, record, until)
                return "the plan ends later"
            if what == "warn":
                say(
                    tx,
                    tx.reservations.get(record.order.reservation_id),
                    self.configuration,
                    f"endpoint-end:{record.order.name}:{utc_text(until)}",
                    words.sections(*words.end_words(record, until)),
                    now=now,
                    presses=(words.delete_press(record),),
                )
                return "warned"
            self.begin_deletion(tx, record, now, actor="gpubot")
        self.bell.ring()
        return "deleting: the plan is over"

    # --- records -------------------------------------------------------------------------------

    def begin_deletion(
        self, tx: Transaction, record: EndpointRecord, now: datetime, *, actor: str
    ) -> EndpointRecord:
        """Begin the deletion; a create whose outcome is unknown is waited for first."""
        after = entered(record, _E.DELETING, now).model_copy(update={"sent_at": record.sent_at})
        self._keep(tx, after, now, actor=actor, before=record)
        self._again(tx, after, now)
        return after

    def _keep(
        self,
        tx: Transaction,
        record: EndpointRecord,
        now: datetime,
        *,
        actor: str,
        before: EndpointRecord | None = None,
    ) -> None:
        """Store it; a new stage is audited and, where it matters to people, said."""
        number = record.order.reservation_id
        tx.facts.put(record_name(number), record.model_dump_json(), at=now)
        if before is not None and before.stage is record.stage:
            return
        tx.audit.append(
            AuditEntry(
                at=now,
                actor=actor,
                action=f"endpoint.{record.stage.replace(' ', '_')}",
                reservation_id=number,
                purchase_id=record.order.purchase_id,
                facts={"name": record.order.name, "detail": record.detail},
            )
        )
        self._announce(tx, record, now)

    def _announce(self, tx: Transaction, record: EndpointRecord, now: datetime) -> None:
        until = self._until(tx, record)
        presses: tuple[Press, ...] = (words.delete_press(record),)
        if record.stage is _E.IN_SERVICE:
            said = words.ready_words(record, until)
        elif record.stage is _E.FAILED:
            said = words.failed_words(record)
        elif record.stage is _E.GONE:
            said, presses = (words.stage_words(record),), ()
        else:
            return
        if presses and until is not None:
            self._plan_end(tx, record, until)
        say(
            tx,
            tx.reservations.get(record.order.reservation_id),
            self.configuration,
            f"endpoint:{record.stage}:{utc_text(record.changed_at)}",
            words.sections(*said),
            now=now,
            presses=presses,
        )

    def _again(self, tx: Transaction, record: EndpointRecord, at: datetime) -> None:
        subject = gpu_id(record.order.reservation_id)
        tx.dues.plan(
            Due(
                key=f"{STEP}:{subject}:{record.stage}:{utc_text(at)}",
                kind=STEP,
                subject=subject,
                at=at,
                argument=str(record.order.reservation_id),
            )
        )

    def _plan_end(self, tx: Transaction, record: EndpointRecord, until: datetime) -> None:
        subject = gpu_id(record.order.reservation_id)
        for what, at in (("warn", until - WARNING), ("delete", until)):
            tx.dues.plan(
                Due(
                    key=f"{END}:{subject}:{what}:{record.order.name}:{utc_text(until)}",
                    kind=END,
                    subject=subject,
                    at=at,
                    argument=f"{what}|{record.order.reservation_id}",
                    stale_after=until if what == "warn" else None,
                )
            )

    # --- looking things up ---------------------------------------------------------------------

    def _until(self, tx: Transaction, record: EndpointRecord) -> datetime | None:
        """Return when the plan's machines are lost for good, as the receipts now say."""
        ends = [
            usable(segment, lost_of(receipt))[1]
            for receipt in tx.receipts.of(record.order.reservation_id)
            if receipt.kind is Kind.TRAINING_PLAN and receipt.state != "failed"
            for segment in receipt.segments
        ]
        return max(ends, default=None)

    def _receipt(self, record: EndpointRecord) -> Receipt:
        with self.store.reading() as tx:
            return tx.receipts.get(record.order.plan_arn)

    def _plan_of(
        self, tx: Transaction, reservation_id: int | None, by: str
    ) -> tuple[Reservation, Receipt]:
        """Return the reservation with its plan for endpoints. Raises UserError."""
        if reservation_id is not None:
            reservation = tx.reservations.get(reservation_id)
            receipt = _plan_receipt(tx, reservation)
            if receipt is None:
                raise UserError(
                    f"{gpu_id(reservation_id)} holds no training plan for endpoints.",
                    hint="reserve 1 p5.48xlarge for 1 day as an endpoint",
                )
            return reservation, receipt
        found = [
            (one, receipt)
            for one in tx.reservations.listing(requester=by)
            if (receipt := _plan_receipt(tx, one)) is not None
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            raise UserError(
                "You have no training plan for endpoints.",
                hint="reserve 1 p5.48xlarge for 1 day as an endpoint",
            )
        names = ", ".join(gpu_id(one.id) for one, _ in found)
        raise UserError(
            f"Which one: {names}?", hint=f"endpoint create {gpu_id(found[0][0].id)} your-model-name"
        )

    def _meant(self, tx: Transaction, named: str | None, by: str) -> Reservation:
        """Return the person's reservation whose endpoint has that name or serves that model."""
        found = [
            one
            for one in tx.reservations.listing(requester=by)
            if (record := record_of(tx, one.id)) is not None
            and record.stage is not _E.GONE
            and named in (None, record.order.name, record.order.model)
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            raise UserError("You have no such endpoint.", hint="endpoint status")
        names = ", ".join(gpu_id(one.id) for one in found)
        raise UserError(f"Which one: {names}?", hint=f"endpoint delete {gpu_id(found[0].id)}")


def _plan_receipt(tx: Transaction, reservation: Reservation) -> Receipt | None:
    return next(
        (
            receipt
            for receipt in tx.receipts.of(reservation.id)
            if receipt.kind is Kind.TRAINING_PLAN
            and receipt.target == Target.ENDPOINT
            and "#" not in receipt.id
            and receipt.state not in OVER
            and not receipt.gone
        ),
        None,
    )


def endpoint_name(purchase_id: str, reservation_id: int) -> str:
    """Return the endpoint's name: the same for the same purchase, and no other installation's.

    Letters, digits and hyphens, at most 63 (SageMaker CreateEndpoint).
    """
    digest = hashlib.sha256(purchase_id.encode()).hexdigest()[:12]
    return f"gpubot-{gpu_id(reservation_id)}-{digest}"
