"""What a team's month looks like: its limit, what is held, bought and left, and for what. Pure.

Every amount is exact and each entry stands in one line, so that the lines sum to the cent.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from bot.domain.base import Model
from bot.domain.records import BudgetEntry, gpu_id
from bot.domain.saying import Moment, Section, Sentence, Strong
from bot.domain.values import Usd, exact_dollars, how_many
from bot.policy.ceilings import counted, day_of, month_of
from bot.policy.configuration import Configuration

MOST_NAMED = 5
"""Reservations that are named for each team; the others are one sum."""


class Sheet(Model):
    """One team's month. `team` "" is what no team pays; `lines` hold all money, largest first.

    A line is a reservation with what is held and what is bought for it.
    """

    team: str
    limit: Usd | None
    held: Usd
    bought: Usd
    lines: tuple[tuple[int, Usd, Usd], ...]

    @property
    def left(self) -> Decimal | None:
        """What may still be committed; None without a limit."""
        return None if self.limit is None else self.limit - self.held - self.bought


def sheet(team: str, entries: Iterable[BudgetEntry], configuration: Configuration) -> Sheet:
    """Return the sheet of a team from the entries of its month, freed ones too."""
    mine = [one for one in entries if (one.team or "") == team and one.state != "freed"]
    sums: dict[int, tuple[Decimal, Decimal]] = {}
    for one in mine:
        held, bought = sums.get(one.reservation_id, (Decimal(0), Decimal(0)))
        sums[one.reservation_id] = (
            (held + one.amount, bought) if one.state == "held" else (held, bought + one.amount)
        )
    lines = [(number, held, bought) for number, (held, bought) in sums.items()]
    return Sheet(
        team=team,
        limit=next(
            (row.monthly_budget_usd for row in configuration.teams if row.name == team), None
        ),
        held=sum((held for _, held, _ in lines), Decimal(0)),
        bought=sum((bought for _, _, bought in lines), Decimal(0)),
        lines=tuple(sorted(lines, key=lambda line: (-(line[1] + line[2]), line[0]))),
    )


def month_section(page: Sheet, now: datetime) -> Section:
    """Return one team's month for people."""
    since, _ = month_of(now)
    head: Sentence = (
        (
            f"{exact_dollars(page.bought)} bought, {exact_dollars(page.held)} held for what is"
            " approved and not bought yet."
        ),
    )
    limit: Sentence = (
        ("No monthly limit is set.",)
        if page.limit is None or page.left is None
        else (
            "Limit ",
            exact_dollars(page.limit),
            ", left ",
            Strong(text=exact_dollars(page.left)),
            ".",
        )
    )
    return Section(
        title=f"{page.team or 'No team'} in {since:%B %Y} (UTC)",
        sentences=(limit, head, *_lines(page.lines)),
    )


def day_section(
    today: Sequence[BudgetEntry], configuration: Configuration, now: datetime
) -> Section:
    """Return what may still be committed today over everything."""
    _, midnight = day_of(now)
    ceiling = configuration.daily_ceiling_usd
    spent = counted(today)
    if ceiling is None:
        words: Sentence = (f"No daily ceiling is set. Today so far: {exact_dollars(spent)}.",)
    else:
        words = (
            f"{exact_dollars(spent)} of {exact_dollars(ceiling)} today, left ",
            Strong(text=exact_dollars(ceiling - spent)),
            " until ",
            Moment(at=midnight),
            ".",
        )
    source: Sentence = (
        "By my own ledger, as of ",
        Moment(at=now),
        ". What was bought without me is not in it.",
    )
    return Section(title="Daily ceiling over all teams", sentences=(words, source))


def _lines(lines: Sequence[tuple[int, Decimal, Decimal]]) -> Iterable[Sentence]:
    for number, held, bought in lines[:MOST_NAMED]:
        yield (Strong(text=gpu_id(number)), f" {_amounts(held, bought)}")
    others = lines[MOST_NAMED:]
    if others:
        held = sum((line[1] for line in others), Decimal(0))
        bought = sum((line[2] for line in others), Decimal(0))
        yield (f"{how_many(len(others), 'other')}: {_amounts(held, bought)}",)


def _amounts(held: Decimal, bought: Decimal) -> str:
    parts = [
        f"{exact_dollars(amount)} {word}"
        for amount, word in ((bought, "bought"), (held, "held"))
        if amount
    ]
    return " and ".join(parts) or exact_dollars(Decimal(0))
