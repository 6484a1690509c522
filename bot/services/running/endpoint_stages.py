"""The stages of an endpoint: what each asks SageMaker, and what its answer leads to."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.errors import IndeterminateError, RefusedError
from bot.domain.records import Receipt, gpu_id
from bot.domain.request import Target
from bot.domain.using import EndpointOrder, EndpointRecord, EndpointStage
from bot.ports import Clock, Endpoints, Store, Transaction
from bot.services.running import endpoint_words as words

SOON = timedelta(seconds=10)
PACE = timedelta(seconds=30)
"""SageMaker's own waiter looks every 30 seconds (botocore, EndpointInService)."""
LONG = timedelta(minutes=2)
PATIENT = timedelta(minutes=20)
DOUBT = timedelta(minutes=2)
"""A create whose answer was lost may show up late; sooner nothing is sent again."""
MOST_ATTEMPTS = 5
_E = EndpointStage
WORKING = frozenset(
    {_E.WAITING, _E.CONFIGURING, _E.CREATING, _E.COMING_UP, _E.DELETING, _E.UNCONFIGURING}
)
OVER = frozenset({"expired", "failed", "payment-failed", "cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """Takes an endpoint one stage further. Safe to repeat: every stage reads before it sends."""

    store: Store
    clock: Clock
    endpoints: Endpoints

    def advance(self, record: EndpointRecord, receipt: Receipt) -> EndpointRecord:
        """Return the record as it is after one step. Raises MarketError."""
        steps: dict[EndpointStage, Callable[[EndpointRecord], EndpointRecord]] = {
            _E.CONFIGURING: self._configure,
            _E.CREATING: self._create,
            _E.COMING_UP: self._follow,
            _E.DELETING: self._delete,
            _E.UNCONFIGURING: self._unconfigure,
        }
        step = steps.get(record.stage)
        return step(record) if step is not None else self._wait(record, receipt)

    def _wait(self, record: EndpointRecord, receipt: Receipt) -> EndpointRecord:
        """Go on once the plan is Active and made for endpoints."""
        plan = self.endpoints.plan(receipt)
        if plan is not None and plan.status.lower() in OVER:
            return self._failed(record, f"the plan is {plan.status}")
        if plan is None or plan.status != "Active":
            return record.model_copy(update={"detail": words.waiting_words(plan)})
        if Target.ENDPOINT not in plan.targets:
            named = ", ".join(plan.targets) or "nothing"
            return self._failed(record, f"the plan was bought for {named}, not for endpoints")
        if plan.total is not None and record.order.count > plan.total:
            return self._failed(record, f"the plan holds {plan.total} machines")
        return self._at(record, _E.CONFIGURING)

    def _configure(self, record: EndpointRecord) -> EndpointRecord:
        there = self.endpoints.configured(record.order)
        if there:
            return self._at(record, _E.CREATING)
        return self._send(record, self.endpoints.configure)

    def _create(self, record: EndpointRecord) -> EndpointRecord:
        if self.endpoints.look(record.order) is not None:
            return self._at(record, _E.COMING_UP)
        return self._send(record, self.endpoints.create)

    def _send(
        self, record: EndpointRecord, call: Callable[[EndpointOrder], None]
    ) -> EndpointRecord:
        """Send one create; whether it worked is read from the books at the next step."""
        now = self.clock.now()
        if record.sent_at is not None and now - record.sent_at < DOUBT:
            return record
        if record.attempt > MOST_ATTEMPTS:
            return self._failed(record, f"SageMaker took none of {MOST_ATTEMPTS} attempts")
        sent = record.model_copy(update={"sent_at": now, "attempt": record.attempt + 1})
        if not self._committed(record, sent, now):
            return record
        try:
            call(record.order)
        except RefusedError as refused:
            if "already exist" not in refused.detail.lower():
                return self._failed(sent, f"SageMaker refused: {refused.detail or refused.code}")
        except IndeterminateError as doubt:
            unclear = f"no clear answer ({doubt.code}); I look again"
            return sent.model_copy(update={"detail": unclear})
        return sent

    def _committed(self, before: EndpointRecord, sent: EndpointRecord, now: datetime) -> bool:
        """Store that a create is about to leave, unless another step was faster."""
        number = sent.order.reservation_id
        with self.store.transaction() as tx:
            if record_of(tx, number) != before:
                return False
            tx.facts.put(record_name(number), sent.model_dump_json(), at=now)
        return True

    def _follow(self, record: EndpointRecord) -> EndpointRecord:
        view = self.endpoints.look(record.order)
        if view is None:
            if self.clock.now() - record.changed_at < DOUBT:
                return record
            return self._failed(record, "SageMaker does not know it any more")
        counted = record.model_copy(update={"used": view.used, "total": view.total})
        if view.status == "InService":
            return self._at(counted, _E.IN_SERVICE)
        if view.status == "Failed":
            return self._failed(counted, view.reason or "SageMaker gives no reason")
        return counted

    def _delete(self, record: EndpointRecord) -> EndpointRecord:
        view = self.endpoints.look(record.order)
        if view is None:
            if record.sent_at is not None and self.clock.now() - record.sent_at < DOUBT:
                return record
            return self._at(record, _E.UNCONFIGURING)
        if view.status == "Deleting":
            return record
        return self._removed(record, self.endpoints.delete)

    def _unconfigure(self, record: EndpointRecord) -> EndpointRecord:
        if not self.endpoints.configured(record.order):
            return self._at(record, _E.GONE)
        return self._removed(record, self.endpoints.unconfigure)

    def _removed(
        self, record: EndpointRecord, call: Callable[[EndpointOrder], None]
    ) -> EndpointRecord:
        """Ask for a removal; repeating it is harmless, so the books decide whether it worked."""
        try:
            call(record.order)
        except (RefusedError, IndeterminateError) as error:
            said = error.detail or error.code
            return record.model_copy(update={"detail": f"not deleted yet: {said}"})
        return record.model_copy(update={"detail": ""})

    def _at(self, record: EndpointRecord, stage: EndpointStage) -> EndpointRecord:
        return entered(record, stage, self.clock.now())

    def _failed(self, record: EndpointRecord, why: str) -> EndpointRecord:
        return self._at(record, _E.FAILED).model_copy(update={"detail": why})


def entered(record: EndpointRecord, stage: EndpointStage, now: datetime) -> EndpointRecord:
    """Return the record at the beginning of a stage."""
    return record.model_copy(
        update={"stage": stage, "changed_at": now, "sent_at": None, "attempt": 1, "detail": ""}
    )


def next_look(record: EndpointRecord, receipt: Receipt, now: datetime) -> datetime:
    """Return when to look again at the same stage: at the plan's start, or at a fitting pace."""
    if record.stage is _E.WAITING:
        coming = [part.start for part in receipt.segments if part.start > now]
        running = any(part.start <= now < part.end for part in receipt.segments)
        if coming and not running:
            return max(min(coming), now + SOON)
        return now + LONG
    if record.stage in {_E.CONFIGURING, _E.CREATING}:
        return now + SOON
    return now + (PACE if now - record.changed_at < PATIENT else LONG)


def record_name(reservation_id: int) -> str:
    """Return the name of the fact that holds a reservation's endpoint."""
    return f"endpoint:{gpu_id(reservation_id)}"


def record_of(tx: Transaction, reservation_id: int) -> EndpointRecord | None:
    """Return the reservation's endpoint, None when none was ever asked for."""
    stored = tx.facts.get(record_name(reservation_id))
    return EndpointRecord.model_validate_json(stored) if stored else None
