"""Paid machines that nobody uses, and machines that are ill: told while it can be mended.

Each episode of low use is told once to the owner, in dollars an hour, and once to the channel
when an hour later nothing has changed, without a ping: the owner knows. Nobody is woken for it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.ending import usable
from bot.domain.records import Receipt, Reservation, gpu_id
from bot.domain.saying import Code, Moment, Press, Sentence, Strong
from bot.domain.using import GpuUse
from bot.domain.values import dollars, how_many, utc_text
from bot.ports import Transaction
from bot.services.reservations.looking import (
    ACTIVE_WORDS,
    NO_SHOW,
    is_ultraserver,
    lost_of,
    segment_at,
)
from bot.services.reservations.using import (
    COUNTED,
    Use,
    average,
    counted,
    gpu_words,
    hourly_cost,
    keep_use,
    percent,
    use_of,
)
from bot.services.words.quiet import said_at
from bot.services.words.telling import Telling

RAISE_AFTER = timedelta(hours=1)
"""The owner has so long before the channel hears of it."""
AGAIN_AFTER = timedelta(hours=6)
"""Use that goes up and down brings no more than one word in this time."""
TOO_LATE = timedelta(minutes=30)
"""So shortly before the last usable minute nothing can be saved any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idling:
    """Watches use and health inside the caller's transaction."""

    telling: Telling

    def observe(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipt: Receipt,
        *,
        now: datetime,
        gpus: GpuUse | None = None,
    ) -> datetime | None:
        """Count what a look showed and say what must be said; return when it matters next.

        `gpus` is what is known of the machines' GPUs now, None when nobody asked.
        """
        before = use_of(tx, receipt.id)
        below = self.telling.configuration.limits.idle_gpu_below
        use = counted(before, receipt, now, gpus=gpus, idle_below=below)
        if use is None or receipt.last_error or receipt.gone:
            return None
        again: datetime | None = None
        runs = segment_at(receipt, now) is not None
        if runs and receipt.state in ACTIVE_WORDS and receipt.total_count:
            if receipt.kind in COUNTED:
                use = self._health(tx, reservation, receipt, use, now)
            use, again = self._idle(tx, reservation, receipt, use, gpus=gpus, now=now)
        else:
            use = _calm(use)
        if use != before:
            keep_use(tx, receipt.id, use, now=now)
        return again

    def keep(self, tx: Transaction, receipt: Receipt, *, now: datetime) -> bool:
        """Say no more about the episode that is under way; return whether one is."""
        use = use_of(tx, receipt.id)
        if use is None or use.low_since is None:
            return False
        keep_use(tx, receipt.id, use.model_copy(update={"kept": True}), now=now)
        return True

    def _idle(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipt: Receipt,
        use: Use,
        *,
        gpus: GpuUse | None,
        now: datetime,
    ) -> tuple[Use, datetime | None]:
        segment = segment_at(receipt, now)
        if segment is None:
            return _calm(use), None
        below = self.telling.configuration.limits.idle_below
        by_count = use.few_run(receipt.kind, below)
        if not by_count and not use.few_work(below):
            # That nobody reports now ends no episode: it is not known to be over.
            unknown = use.gpu_low and not use.gpu_reporting
            return (use if unknown else _calm(use)), None
        if use.low_since is None or use.low_since < segment.start:
            fresh = _calm(use)
            since = now if fresh.ever else segment.start
            if gpus is not None and not by_count:
                since = max(gpus.since, segment.start)
            use = fresh.model_copy(update={"low_since": since})
        use = use.model_copy(update={"gpu_low": not by_count})
        at = self._when(reservation, use, now)
        if at is None or at > usable(segment, lost_of(receipt))[1] - TOO_LATE:
            return use, None
        if at > now:
            return use, at
        words = self._words(tx, reservation, receipt, use, gpus)
        if use.told_at is None:
            self._tell_owner(tx, reservation, use, words, now=now)
            told = use.model_copy(update={"told_at": now, "told_last": now})
            return told, said_at(now + RAISE_AFTER, reservation.zone)
        self._tell_channel(tx, reservation, use, words, now=now)
        return use.model_copy(update={"raised": True}), None

    def _when(self, reservation: Reservation, use: Use, now: datetime) -> datetime | None:
        """Return when the next word on the episode is due: by day, and not too often."""
        if use.low_since is None or use.kept or use.raised:
            return None
        if use.told_at is not None:
            at = use.told_at + RAISE_AFTER
        else:
            limits = self.telling.configuration.limits
            at = use.low_since + (limits.idle_after if use.ever else NO_SHOW)
            at = max(at, use.told_last + AGAIN_AFTER) if use.told_last is not None else at
        return said_at(max(at, now), reservation.zone)

    def _tell_owner(
        self,
        tx: Transaction,
        reservation: Reservation,
        use: Use,
        words: tuple[Sentence, ...],
        *,
        now: datetime,
    ) -> None:
        self.telling.tell(
            tx,
            reservation.owner,
            _episode(tx, reservation, use),
            words,
            now=now,
            presses=idle_presses(reservation),
        )

    def _tell_channel(
        self,
        tx: Transaction,
        reservation: Reservation,
        use: Use,
        words: tuple[Sentence, ...],
        *,
        now: datetime,
    ) -> None:
        self.telling.note(
            tx,
            reservation,
            _episode(tx, reservation, use),
            words,
            now=now,
            presses=idle_presses(reservation),
            ping=False,
        )

    def _words(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipt: Receipt,
        use: Use,
        gpus: GpuUse | None,
    ) -> tuple[Sentence, ...]:
        head, advice = _idle_words(tx, reservation, receipt, use)
        below = self.telling.configuration.limits.idle_gpu_below
        if not use.gpu_idle or gpus is None or below is None:
            return (head, advice)
        return (head, _gpu_sentence(use, gpus, below), advice)

    def _health(
        self,
        tx: Transaction,
        reservation: Reservation,
        receipt: Receipt,
        use: Use,
        now: datetime,
    ) -> Use:
        bad = receipt.unhealthy_count or 0
        if bad > use.unwell:
            self.telling.note(
                tx,
                reservation,
                f"unwell:{receipt.id}:{utc_text(now)}",
                _unwell_words(reservation, receipt, bad),
                now=now,
                presses=(health_press(reservation),),
            )
        if bad == use.unwell or 0 < bad < use.unwell:
            return use
        return use.model_copy(update={"unwell": bad})


def health_press(reservation: Reservation) -> Press:
    """Return the button that shows the machines as AWS sees them now."""
    return Press(action="gpu.health", label="Health", argument=str(reservation.id))


def idle_presses(reservation: Reservation) -> tuple[Press, ...]:
    """Return what can be done about machines that stand idle."""
    argument = str(reservation.id)
    return (
        Press(action="gpu.launch", label="Launch kit", argument=argument, style="primary"),
        Press(action="gpu.release", label="Release to others", argument=argument),
        Press(action="gpu.keep", label="Keep it", argument=argument),
    )


def _calm(use: Use) -> Use:
    return use.model_copy(
        update={
            "low_since": None,
            "told_at": None,
            "raised": False,
            "kept": False,
            "gpu_low": False,
        }
    )


def _episode(tx: Transaction, reservation: Reservation, use: Use) -> str:
    """Return what makes a word on idle machines unique: a join's parts are told together."""
    first = min(receipt.id for receipt in tx.receipts.of(reservation.id))
    return f"idle:{first}:{_since(use)}"


def _since(use: Use) -> str:
    return utc_text(use.low_since) if use.low_since is not None else ""


def _idle_words(
    tx: Transaction, reservation: Reservation, receipt: Receipt, use: Use
) -> tuple[Sentence, Sentence]:
    idle = max(use.total - use.busy, 0)
    cost = hourly_cost(tx.purchases.get(receipt.purchase_id))
    name = Strong(text=gpu_id(reservation.id))
    what = f"{idle} of {use.total} x {receipt.instance_type}"
    since: Sentence = (
        (" Nothing was launched since it started ", Moment(at=use.low_since), ".")
        if use.low_since is not None and not use.ever
        else (" So little is used since ", Moment(at=use.low_since), ".")
        if use.low_since is not None
        else ()
    )
    return (
        (
            name,
            f" stands idle: {what} cost {dollars(cost * idle)} an hour and do nothing.",
            *since,
        ),
        _advice(receipt),
    )


def _gpu_sentence(use: Use, gpus: GpuUse, below: Decimal) -> Sentence:
    runs = "1 machine runs" if use.gpu_idle == 1 else f"{use.gpu_idle} machines run"
    return (
        (
            f"{runs}, but with GPUs below {percent(below)}; all that report are at"
            f" {average(gpus)} on average ({gpu_words(gpus)})."
        ),
    )


def _advice(receipt: Receipt) -> Sentence:
    if receipt.kind in COUNTED:
        return (
            (
                "Launch into it, release it to others, or keep it as it is; the money is spent"
                " either way."
            ),
        )
    return ("These bill by the hour: end them, put them to work, or keep them as they are.",)


def _unwell_words(reservation: Reservation, receipt: Receipt, bad: int) -> tuple[Sentence, ...]:
    machines = how_many(bad, "machine")
    name = Strong(text=gpu_id(reservation.id))
    head: Sentence = (
        name,
        f": AWS says that {machines} of {receipt.total_count} in ",
        Code(text=receipt.id),
        " failed a check. The lost hours are counted for the report.",
    )
    if is_ultraserver(receipt):
        return (
            head,
            (
                (
                    "UltraServers are not replaced one machine at a time: terminate all its"
                    " instances and open a support case with AWS."
                ),
            ),
        )
    return (
        head,
        (
            (
                "Terminate the ill instance and launch again into the same reservation: its place"
                " comes back after about 10 minutes, by AWS's own article. No replacement is sent."
            ),
        ),
    )
