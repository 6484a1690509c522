"""What to do besides taking an option, or when there is none."""

from collections.abc import Iterator
from datetime import time, timedelta

from bot.domain.decision import Note
from bot.domain.market import Kind, NotRead
from bot.domain.values import exact_dollars
from bot.engine.judging import Judged
from bot.engine.near import Setting, near_misses
from bot.engine.ranking import Fitting
from bot.engine.rejects import Case
from bot.engine.terms import BOOKING_HORIZON, Terms, bare
from bot.engine.words import day, moment

ACCOUNT_TEAM_LEAD = timedelta(weeks=3)
"""How early AWS wants to hear of large requests (the account team's own rule of thumb)."""
_BLOCKS_BEGIN = time(11, 30)
"""Capacity Blocks begin and end at 11:30 UTC (EC2 User Guide, Capacity Blocks)."""
_NEARLY = timedelta(hours=24)
"""How far a start may move and still nearly serve a fixed one."""

_TIMES = frozenset({"starts_too_late", "starts_too_early", "ends_too_late", "too_short"})
"""The faults that another time would mend."""

WATCH = Note(code="watch", text="Nothing fits now. Send the same line with watch to be told.")


def advice(setting: Setting, judged: Judged) -> tuple[Note, ...]:
    """Return what is advised, in a fixed order; never empty when nothing fits."""
    found = [
        *_large(judged),
        *_wait(judged.terms),
        *_account_team_g6(judged),
        *_spot(setting, judged),
        *_other_time(judged),
    ]
    if judged.pick is None:
        found.extend(_ask_quota(setting, judged))
        found.extend(near_misses(setting, judged))
        found.append(WATCH)
    return tuple(found)


def _large(judged: Judged) -> Iterator[Note]:
    terms = judged.terms
    count = _count(judged)
    if count < terms.rules.large_request_instances:
        return
    text = f"{count} machines are a large request: tell the AWS account team three weeks ahead."
    start = terms.request.earliest_start or terms.now
    if start - terms.now < ACCOUNT_TEAM_LEAD:
        text += f" Less than three weeks are left before {moment(start)}."
    yield Note(code="account_team_three_weeks", text=text)


def _count(judged: Judged) -> int:
    """Return the machines asked; when types compete, those of the pick, else the fewest."""
    counts = judged.terms.counts
    if judged.terms.several_types and judged.pick is not None:
        return judged.pick.candidate.machines
    return min(counts.values(), default=0)


def _wait(terms: Terms) -> Iterator[Note]:
    start = terms.request.earliest_start
    if terms.beyond_horizon and start is not None:
        bookable = day(start - BOOKING_HORIZON)
        text = f"A start at {moment(start)} becomes bookable on {bookable}, 56 days before."
        yield Note(code="wait_until_bookable", text=text)


def _account_team_g6(judged: Judged) -> Iterator[Note]:
    terms = judged.terms
    if terms.several_types:
        names = [judged.pick.candidate.instance_type] if judged.pick else []
    else:
        names = list(terms.counts)
    if terms.sagemaker and any(bare(name).startswith("g6.") for name in names):
        text = "SageMaker sells G6 capacity through the AWS account team only: ask them."
        yield Note(code="account_team_g6", text=text)


def _spot(setting: Setting, judged: Judged) -> Iterator[Note]:
    """Advise spot when silence alone keeps it from being the cheaper recommendation."""
    request = judged.terms.request
    if request.interruptible is not None:
        return
    if not any(reason.code == "interruptible" for _, reason in judged.rejected):
        return
    rival = setting.judged(request.model_copy(update={"interruptible": True})).pick
    if rival is None or rival.candidate.kind is not Kind.SPOT:
        return
    pick = judged.pick
    if pick is None or rival.exact < pick.exact:
        instead = f" instead of {exact_dollars(pick.total)}" if pick else ""
        text = f"If the work may be interrupted, spot costs {exact_dollars(rival.total)}{instead}."
        yield Note(code="supplement_with_spot", text=f"{text} Add: spot ok.")


def _other_time(judged: Judged) -> Iterator[Note]:
    """Advise a shorter block at 11:30 UTC that nearly serves a fixed start for less."""
    pick, request = judged.pick, judged.terms.request
    fixed = request.earliest_start is not None and request.earliest_start == request.latest_start
    if pick is None or not fixed or not pick.candidate.prepaid:
        return
    rivals = [
        case
        for case, reason in judged.rejected
        if reason.code in _TIMES and _nearly_serves(case, pick)
    ]
    if not rivals:
        return
    best = min(rivals, key=_cheapest)
    if best.candidate.price is not None and best.stay is not None:
        text = (
            f"A block from {moment(best.stay.start)} costs {exact_dollars(best.candidate.price)}"
            f" instead of {exact_dollars(pick.total)}."
        )
        yield Note(code="try_other_time", text=text)


def _nearly_serves(case: Case, pick: Fitting) -> bool:
    row, stay, terms = case.candidate, case.stay, case.terms
    start = terms.request.earliest_start
    return (
        row.prepaid
        and row.holds == row.asked
        and row.price is not None
        and row.price < pick.total
        and stay is not None
        and start is not None
        and stay.start.time() == _BLOCKS_BEGIN
        and abs(stay.start - start) <= _NEARLY
        and stay.reserved < pick.stay.reserved
        and stay.usable >= min(terms.asked, terms.needed)
    )


def _cheapest(case: Case) -> tuple[object, ...]:
    start = case.stay.start if case.stay is not None else case.terms.now
    return (case.candidate.price, start, case.candidate.refs)


def _ask_quota(setting: Setting, judged: Judged) -> Iterator[Note]:
    """Advise to ask for every quota that stands in the way, with what is needed and held."""
    texts: set[str] = set()
    for case, reason in judged.rejected:
        if reason.code == "quota":
            texts.update(_quota_texts(case))
    texts.update(
        _unread_text(missing) for missing in setting.market.not_read if missing.why == "quota"
    )
    if texts:
        yield Note(code="ask_quota", text=" ".join(sorted(texts)))


def _quota_texts(case: Case) -> Iterator[str]:
    row = case.candidate
    for quota in case.quotas.covering(row):
        need = case.quotas.needed(quota, row)
        if need is None or quota.limit is None:
            continue
        used = quota.used or 0
        if need > quota.limit - used:
            yield (
                f'Ask AWS to raise "{quota.name}" in {row.region} to {used + need} {quota.unit};'
                f" {quota.limit} are held, {used} of them in use."
            )


def _unread_text(missing: NotRead) -> str:
    detail = f" ({missing.detail})" if missing.detail else ""
    return (
        f"A quota kept {missing.market} in {missing.region} from being read{detail}:"
        " ask AWS to raise it."
    )
