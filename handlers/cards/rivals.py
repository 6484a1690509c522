"""The other ways on a card: why each lost or was ruled out, what was not read, what to send."""

from collections import Counter
from collections.abc import Iterator

from bot.domain.decision import Decision, Option
from bot.domain.market import Kind
from bot.domain.values import exact_dollars
from handlers.cards import wording
from handlers.rendering import context, dated, section, shown
from handlers.reply import Block

MOST_OTHERS = 4
MOST_ADVICE = 4

LACKS = {
    "joined": "several purchases",
    "fewer_machines_than_asked": "fewer machines",
    "more_machines_than_asked": "more machines than asked",
    "shorter_than_asked": "shorter than asked",
    "longer_than_asked": "longer than asked",
    "starts_later": "starts later",
    "gap_between_segments": "has a gap",
    "refused_before": "refused lately",
    "score_low": "low Spot score",
    "local_zone": "in a Local Zone",
    "owner_must_agree": "its owner must agree",
}
"""Warnings that tell why an option came after another one."""

NEVER_IN_QUESTION = frozenset({"wrong_target", "wrong_type", "kind_disabled", "region_not_allowed"})

RULED_OUT = {
    "not_guaranteed": "nothing guarantees it at that time",
    "interruptible": "AWS may take it back at any time",
    "recently_refused": "AWS refused it within the last hours",
    "hold_too_long": "it would bill for over a day before its use",
    "quota": "the account's quota is too small",
    "over_budget": "over the most you would pay",
    "over_hourly_cap": "over your hourly cap",
    "too_few_instances": "too few machines on sale",
    "price_unknown": "no price is known",
}
"""Short words for the commonest reasons; others are said as the decision says them."""


def other_ways(decision: Decision, option: Option | None, *, can: str = "") -> list[Block]:
    """Return the other options, what was not read, and what else could be sent.

    `can` is what to do when nothing fits.
    """
    blocks: list[Block] = []
    if option is None:
        more = f" {can}" if can else ""
        blocks.append(section(f"*Nothing fits.* Nothing was bought or held.{more}"))
    lines = [] if option is None else _others(decision, option)
    if lines:
        blocks.append(section("*Other ways*\n" + "\n".join(lines)))
    if decision.not_read:
        blocks.append(context(_not_read(decision)))
    if decision.advice:
        lines = [f"• {dated(note.text)}" for note in decision.advice[:MOST_ADVICE]]
        blocks.append(section("\n".join(lines)))
    return blocks


def _others(decision: Decision, pick: Option) -> list[str]:
    """Return the best of every other kind with why it lost, then more of the pick's own kind."""
    rivals = [other for other in decision.options if other is not pick]
    best = {other.kind: other for other in reversed(rivals) if other.kind != pick.kind}
    shown_first = [other for other in rivals if best.get(other.kind) is other]
    ruled_out = [
        kind
        for kind in dict.fromkeys(row.kind for row in decision.rejected)
        if kind != pick.kind and kind not in best
    ]
    lines = [_other(other, pick) for other in shown_first]
    lines += [line for kind in ruled_out if (line := _ruled_out(decision, kind))]
    rest = [other for other in rivals if other not in shown_first]
    room = max(0, MOST_OTHERS - len(lines))
    lines = lines[:MOST_OTHERS] + [_other(other, pick) for other in rest[:room]]
    more = len(rest) - room
    return [*lines, f"… and {more} more"] if more > 0 else lines


def _ruled_out(decision: Decision, kind: Kind) -> str | None:
    """Return why a whole kind is out: its commonest reason; None when it was never in question."""
    reasons = Counter(
        row.reason.code
        for row in decision.rejected
        if row.kind is kind and row.reason.code not in NEVER_IN_QUESTION
    )
    if not reasons:
        return None
    [(code_said, _)] = reasons.most_common(1)
    why = RULED_OUT.get(code_said) or next(
        row.reason.text for row in decision.rejected if row.reason.code == code_said
    )
    return f"✕ {shown(wording.KINDS[kind])} — {dated(why)}"


def _other(other: Option, pick: Option) -> str:
    """Return one line on an option that lost, with why."""
    losing = ", ".join(list(_losing(other, pick))[:2]) or "as good, elsewhere"
    where = f"{wording.KINDS[other.kind]} in {other.zone or other.region}"
    return f"{other.rank}. {exact_dollars(other.total_usd)} · {shown(where)} — {shown(losing)}"


def _losing(other: Option, pick: Option) -> Iterator[str]:
    """Give what the option lacks beside the pick, the weightiest first."""
    mine = {note.code for note in pick.warnings}
    lacking = [LACKS[n.code] for n in other.warnings if n.code in LACKS and n.code not in mine]
    if other.certainty != pick.certainty:
        yield wording.CERTAINTIES[other.certainty]
    yield from lacking
    if other.total_usd > pick.total_usd:
        yield "costs more"
    if pick.cancellable and not other.cancellable:
        yield "cannot be cancelled"
    if wording.began(other) > wording.began(pick) and "starts later" not in lacking:
        yield "starts later"
    if other.usable_hours < pick.usable_hours:
        yield "fewer usable hours"


def _not_read(decision: Decision) -> str:
    named = [
        f"{row.market} in {row.region}, {row.account} ({row.why})" for row in decision.not_read[:4]
    ]
    more = len(decision.not_read) - len(named)
    tail = f" and {more} more" if more > 0 else ""
    return (
        f"Not read: {shown('; '.join(named))}{tail}."
        " That is not the same as having no capacity: there may be better offers."
    )
