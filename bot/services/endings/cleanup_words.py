"""What a clean-up says: each thing with its cost a day, whose it is, and its button."""

from collections.abc import Iterator
from decimal import Decimal

from bot.domain.cleanup import CleanItem, CleanUp, ItemStage, Maker
from bot.domain.market import NotRead
from bot.domain.records import gpu_id
from bot.domain.saying import Code, Mention, Moment, Press, Section, Sentence, Strong
from bot.domain.using import Leftover, LeftoverKind
from bot.domain.values import dollars

REMOVE = "gpu.clean"
REMOVE_ALL = "gpu.clean.all"
LOOK = "gpu.cleanup"
MOST_BUTTONS = 20
MOST_LISTED = 40

_MAKERS = {
    Maker.BOT: "I made it",
    Maker.KIT: "started with my launch kit",
    Maker.UNKNOWN: "not tagged as mine, so I only report it",
}

_WHY = {
    "throttled": "AWS asked me to slow down",
    "quota": "the account's quota is used up",
    "refused": "I am not permitted to; an administrator can add it to my role",
    "unreachable": "AWS did not answer",
}


def cost(leftover: Leftover) -> str:
    """Return what it costs a day, in words; never a guess."""
    if leftover.prepaid:
        return "nothing beyond what is paid"
    if leftover.usd_per_day is None:
        return "cost unknown"
    return f"{dollars(leftover.usd_per_day)} a day"


def sections(record: CleanUp) -> tuple[Section, ...]:
    """Return the living note of a clean-up."""
    return (Section(sentences=tuple(_sentences(record))),)


def _sentences(record: CleanUp) -> Iterator[Sentence]:
    name = Strong(text=gpu_id(record.reservation_id))
    if record.proved:
        yield (
            "Clean-up of ",
            name,
            ": AWS shows nothing left, seen ",
            Moment(at=record.seen_at),
            ".",
        )
    elif record.open:
        yield (
            "Clean-up of ",
            name,
            f": {_things(len(record.open))} left, seen ",
            Moment(at=record.seen_at),
            f". {_total(record)}",
        )
    else:
        yield ("Clean-up of ", name, ": I see nothing left, but could not read everything.")
    shown = (*record.open, *(item for item in record.items if item.stage is ItemStage.GONE))
    for item in shown[:MOST_LISTED]:
        yield _line(item)
    if len(shown) > MOST_LISTED:
        yield (f"{len(shown) - MOST_LISTED} more are not listed.",)
    yield from _unseen(record)


def _unseen(record: CleanUp) -> Iterator[Sentence]:
    """Yield what could not be looked at, with why, and what the reader can do about it."""
    if not record.not_read:
        return
    for missing in record.not_read:
        where = f"{missing.region}, account {missing.account}"
        yield (f"I could not look at the {missing.market} in {where}: {_why(missing)}.",)
    yield (
        (
            "So something may still be there, and may cost money. Press Look again, or look in the"
            " AWS console; what you delete there I see at the next look."
        ),
    )


def _why(missing: NotRead) -> str:
    """Return why a book could not be read; AWS's own word where it gave one."""
    known = _WHY.get(missing.why, "AWS gave no usable answer")
    code = (missing.detail or "").partition(":")[0].strip()
    return f"{known} ({code})" if code.isalnum() else known


def _line(item: CleanItem) -> Sentence:
    leftover = item.leftover
    what = f" ({leftover.detail})" if leftover.detail else ""
    head: Sentence = (f"• {leftover.kind} ", Code(text=leftover.id), f"{what} in {leftover.region}")
    return (*head, *_tail(item))


def _tail(item: CleanItem) -> Sentence:
    known = f", {item.leftover.state}, {cost(item.leftover)}"
    match item.stage:
        case ItemStage.GONE:
            return (" is gone.",)
        case ItemStage.REMOVING:
            why = f": {item.detail}" if item.detail else ""
            return (f" is being removed{why}.",)
        case ItemStage.ASKED:
            return (f"{known}: waits for an approver.",)
        case ItemStage.FOUND:
            return (f"{known}; {_MAKERS[item.maker]}.",)


def _total(record: CleanUp) -> str:
    known = [one.leftover.usd_per_day for one in record.open if one.leftover.usd_per_day]
    unknown = sum(
        1 for one in record.open if one.leftover.usd_per_day is None and not one.leftover.prepaid
    )
    if not known and not unknown:
        return "That costs nothing beyond what is paid."
    if not known:
        return f"What {unknown} of them cost is unknown." if unknown > 1 else "Its cost is unknown."
    amount = f"Known to cost {dollars(sum(known, Decimal(0)))} a day in all"
    return f"{amount}, {unknown} unknown." if unknown else f"{amount}."


def _things(count: int) -> str:
    return "one thing is" if count == 1 else f"{count} things are"


def presses(record: CleanUp) -> tuple[Press, ...]:
    """Return a button for each thing that may be removed, one for all of mine, and a new look."""
    found = [item for item in record.open if item.stage is ItemStage.FOUND]
    mine = [item for item in found if item.maker is Maker.BOT]
    buttons = [_press(item) for item in found[:MOST_BUTTONS] if item.maker is not Maker.UNKNOWN]
    if len(mine) > 1:
        buttons.append(
            Press(
                action=REMOVE_ALL,
                label=f"Remove all {len(mine)} that I made",
                argument=str(record.reservation_id),
                style="danger",
                confirm=f"Remove {len(mine)} things that I made for"
                f" {gpu_id(record.reservation_id)}? It can't be undone.",
            )
        )
    if not record.proved:
        buttons.append(Press(action=LOOK, label="Look again", argument=str(record.reservation_id)))
    return tuple(buttons)


def _press(item: CleanItem) -> Press:
    leftover = item.leftover
    kit = item.maker is Maker.KIT
    consent = " I did not make it, so an approver is asked as well." if kit else ""
    return Press(
        action=REMOVE,
        label=f"Remove {leftover.id}"[:75],
        argument=leftover.key,
        style="danger",
        confirm=(
            f"{_deed(leftover)} {leftover.id} in {leftover.region}? It can't be undone.{consent}"
        ),
    )


def _deed(leftover: Leftover) -> str:
    if leftover.kind is LeftoverKind.INSTANCE:
        return "Terminate instance"
    if leftover.kind in (LeftoverKind.RESERVATION, LeftoverKind.SPOT_REQUEST):
        return f"Cancel {leftover.kind}"
    return f"Delete {leftover.kind}"


def asking(item: CleanItem, reservation_id: int) -> tuple[Sentence, ...]:
    """Return the question to the approvers."""
    leftover = item.leftover
    return (
        (
            Mention(id=item.asked_by or "", ping=False),
            f" wants {leftover.kind} ",
            Code(text=leftover.id),
            (
                f" in {leftover.region} removed ({leftover.state}, {cost(leftover)})."
                " It was started with the launch kit of "
            ),
            Strong(text=gpu_id(reservation_id)),
            ", not by me, so somebody else must agree.",
        ),
    )


def agree_press(item: CleanItem, reservation_id: int) -> Press:
    """Return the approvers' button."""
    return Press(
        action="gpu.clean.agree",
        label="Agree to remove it",
        argument=f"{reservation_id}|{item.leftover.key}",
        style="danger",
        confirm=f"{_deed(item.leftover)} {item.leftover.id}? It can't be undone.",
    )
