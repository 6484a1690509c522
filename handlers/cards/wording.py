"""The words that several cards share: amounts, machines, kinds and states."""

from datetime import datetime
from decimal import Decimal

from bot.domain.decision import Certainty, Option
from bot.domain.ending import usable
from bot.domain.lifecycle import ReservationState as State
from bot.domain.market import Kind
from bot.domain.records import LegPurpose
from bot.domain.request import Request
from bot.domain.values import dollars, plain_text, rate_text
from bot.services.reservations.looking import PAID_WORDS, ending_now, lost_of
from bot.services.reservations.tendering import BUY_BEFORE_END, PREPAID
from bot.services.words.views import CardView
from handlers.cards.bought import as_bought

TIMES = "\N{MULTIPLICATION SIGN}"

KINDS = {
    Kind.OWNED: "already owned",
    Kind.ON_DEMAND: "On-Demand",
    Kind.SPOT: "Spot",
    Kind.ODCR: "capacity reservation (ODCR)",
    Kind.CAPACITY_BLOCK: "Capacity Block",
    Kind.TRAINING_PLAN: "SageMaker training plan",
}

CERTAINTIES = {
    Certainty.HELD: "held already",
    Certainty.GUARANTEED: "guaranteed",
    Certainty.LIKELY: "likely, not guaranteed",
    Certainty.UNCERTAIN: "uncertain until AWS is asked",
    Certainty.UNKNOWN: "odds unknown",
}

STATES = {
    State.REQUESTED: "reading the market",
    State.QUOTED: "waiting for you to ask for approval",
    State.PENDING_APPROVAL: "waiting for approval",
    State.APPROVED: "approved",
    State.PURCHASING: "buying",
    State.PAYMENT_PENDING: "payment pending at AWS",
    State.SCHEDULED: "scheduled",
    State.ACTIVE: "active",
    State.ENDED: "ended",
    State.DECLINED: "declined",
    State.EXPIRED: "expired, nothing was bought",
    State.CANCELLED: "cancelled, nothing was bought",
    State.BLOCKED: "blocked",
    State.FAILED: "failed",
    State.NEEDS_REVIEW: "needs a person to look",
    State.SHADOWED: "rehearsed only, nothing was bought",
}

NOTHING_FITS = "nothing fits now, nothing was bought"

ENDING = "ending, instances are being terminated"
"""After the last usable minute: AWS takes the machines, and nothing new should start there."""

SURE_STATES = frozenset({"scheduled", "active"})
"""AWS's own words for capacity that is there or will be (EC2 and SageMaker, in our spelling)."""


def first_upper(text: str) -> str:
    """Return the text with its first letter large and the others as they are."""
    return text[:1].upper() + text[1:]


def first_lower(text: str) -> str:
    """Return the text with its first letter small and the others as they are."""
    return text[:1].lower() + text[1:]


def hourly(rate: Decimal) -> str:
    """Return a rate in dollars and cents, half up."""
    return dollars(rate)


def percent(share: Decimal) -> str:
    """Return a share as a percentage with at most two decimals."""
    return f"{rate_text(share * 100).rstrip()} %"


def wanted(request: Request) -> str:
    """Return what was asked for in a few words, as machines and a length."""
    if request.instance_type is not None:
        what = f"{request.instance_count or 1} {TIMES} {request.instance_type}"
    elif request.ultraserver_type is not None:
        what = request.ultraserver_type
    else:
        what = f"{request.accelerator_count or '?'} {TIMES} {request.accelerator or 'GPU'}"
    hours = request.duration_hours
    return what if hours is None else f"{what} for {length(hours)}"


def length(hours: Decimal) -> str:
    """Return hours as days when they are whole days: 3 days, 36 h."""
    days, rest = divmod(hours, 24)
    if days >= 1 and rest == 0:
        return "1 day" if days == 1 else f"{int(days)} days"
    return f"{plain_text(hours)} h"


def machines(option: Option) -> str:
    """Return how many machines of which type an option holds."""
    return f"{option.instance_count} {TIMES} {option.instance_type}"


def place(option: Option) -> str:
    """Return where it is: us-east-1b, account research."""
    return f"{option.zone or option.region}, account {option.account}"


def shown_option(view: CardView) -> Option | None:
    """Return the option that the card is about: bought, agreed, proposed, or the one on show."""
    option = _agreed_option(view)
    return None if option is None else as_bought(option, view)


def _agreed_option(view: CardView) -> Option | None:
    if view.reservation.option is not None and view.reservation.state != State.QUOTED:
        return view.reservation.option
    if view.proposal is not None and view.reservation.state == State.PENDING_APPROVAL:
        return view.proposal.option
    options = view.decision.options if view.decision is not None else ()
    if view.decision is None or view.decision.recommended is None:
        return None
    return next((o for o in options if o.rank == view.reservation.shown_rank), options[0])


def state_words(view: CardView) -> str:
    """Return the state for people; what AWS is taking already is no longer just active."""
    state = view.reservation.state
    if state == State.QUOTED and view.decision is not None:
        option = shown_option(view)
        if option is None:
            return NOTHING_FITS
        if not approvable(view, option):
            return "above what anybody here may approve"
    held = [receipt for receipt in view.receipts if not receipt.gone]
    if state == State.PAYMENT_PENDING and not prepaid(view):
        return "starting at AWS"
    if state == State.ACTIVE and any(ending_now(receipt, view.seen_at) for receipt in held):
        return ENDING
    if state == State.ENDED and extension(view):
        return "bought"
    return STATES[state]


def approvable(view: CardView, option: Option) -> bool:
    """Return whether anybody may approve so much."""
    return view.approvable_up_to is None or option.total_usd <= view.approvable_up_to


def prepaid(view: CardView) -> bool:
    """Return whether it is paid before it begins; what bills by the hour has no such payment."""
    return view.reservation.option is None or view.reservation.option.kind in PREPAID


def can_be_used(view: CardView) -> bool:
    """Return whether something bought is there, or will be, and is not being taken."""
    return view.reservation.state in (State.ACTIVE, State.SCHEDULED) and any(
        not receipt.gone
        and any(usable(part, lost_of(receipt))[1] > view.seen_at for part in receipt.segments)
        for receipt in view.receipts
    )


def can_be_extended(view: CardView) -> bool:
    """Return whether AWS sells more time of it, as far as the clock and the kind tell."""
    return any(
        receipt.kind in PREPAID
        and not receipt.gone
        and any(part.end - BUY_BEFORE_END > view.seen_at for part in receipt.segments)
        for receipt in view.receipts
    )


def sure(view: CardView) -> bool:
    """Return whether AWS's own state says that everything bought is there or will be.

    More time is sure once its payment is through: its own record has no later state.
    """
    known = PAID_WORDS if extension(view) else SURE_STATES
    return bool(view.receipts) and all(
        receipt.state in known and not receipt.gone for receipt in view.receipts
    )


def extension(view: CardView) -> bool:
    """Return whether the reservation is nothing but more time for another one."""
    legs = [row.leg for row in view.purchases]
    if not legs and view.proposal is not None:
        legs = list(view.proposal.legs)
    return bool(legs) and all(leg.purpose is LegPurpose.EXTENSION for leg in legs)


def began(option: Option) -> datetime:
    """Return when an option begins."""
    return option.segments[0].start
