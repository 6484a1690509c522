"""The policy in sentences: what a total would need, from whom, and under which ceilings."""

from datetime import timedelta
from decimal import Decimal

from bot.domain.records import Switch
from bot.domain.sharing import Elsewhere, Way
from bot.domain.values import dollars
from bot.policy.accounts import HINDRANCES
from bot.policy.configuration import Configuration, Tier
from bot.policy.tiers import everyone, tier_for


def explain(
    total: Decimal,
    configuration: Configuration,
    *,
    requester: str | None = None,
    team: str | None = None,
) -> tuple[str, ...]:
    """Return how a total would be handled, one sentence a rule, the deciding one first."""
    return (
        _tier_words(total, configuration),
        *_own_words(total, configuration, requester),
        *_ceiling_words(configuration, team),
        _switch_words(configuration.purchasing),
    )


def place_words(passage: Elsewhere | None) -> tuple[str, ...]:
    """Return where it is bought and where it can be used; nothing when that is the same account."""
    if passage is None:
        return ()
    buyer, user = passage.buyer, passage.user
    if passage.way is Way.SHARED:
        return (f"Bought in {buyer}, shared with {user} (AWS RAM) once scheduled.",)
    if passage.way is Way.UNSURE or passage.hindrance is None:
        return (
            (
                f"Bought in {buyer}; sharing it with {user} (AWS RAM) is tried, and works only"
                " inside one AWS Organization, which the file does not say."
            ),
        )
    why = HINDRANCES[passage.hindrance]
    return (f"Bought in {buyer}, can't be used from {user}: {why}.",)


def _tier_words(total: Decimal, configuration: Configuration) -> str:
    amount = dollars(total)
    tier = tier_for(total, configuration)
    if tier is None:
        last = configuration.approval.tiers[-1].up_to_usd
        return f"{amount} is refused: it is above the last tier, {dollars(last)}."
    holds = f"{amount} falls into the tier up to {dollars(tier.up_to_usd)}"
    if tier.auto:
        return f"{holds}, which the policy approves at once."
    return f"{holds}: {_needs(tier)} within {_spell(tier.expires)}."


def _needs(tier: Tier) -> str:
    people = ", ".join(everyone(tier))
    if tier.needed == 1:
        return f"one of {people} must agree"
    return f"{tier.needed} different people of {people} must agree"


def _own_words(
    total: Decimal, configuration: Configuration, requester: str | None
) -> tuple[str, ...]:
    tier = tier_for(total, configuration)
    words: list[str] = []
    if requester is not None and tier is not None and requester in everyone(tier):
        words.append(f"{requester} is an approver but can't approve what they ask for or will own.")
    alone = configuration.approval.break_glass
    if alone is not None and total <= alone.up_to_usd:
        words.append(
            f"In an emergency {', '.join(alone.people)} may act alone up to"
            f" {dollars(alone.up_to_usd)}; the reason is posted."
        )
    return tuple(words)


def _ceiling_words(configuration: Configuration, team: str | None) -> tuple[str, ...]:
    words: list[str] = []
    budget = next(
        (entry.monthly_budget_usd for entry in configuration.teams if entry.name == team), None
    )
    if budget is not None:
        words.append(f"{team} may commit {dollars(budget)} in a UTC month.")
    if configuration.daily_ceiling_usd is not None:
        words.append(
            f"All teams together may commit {dollars(configuration.daily_ceiling_usd)} in a UTC"
            " day."
        )
    return tuple(words)


def _switch_words(switch: Switch) -> str:
    return {
        Switch.ON: "Purchasing is on in the file.",
        Switch.OFF: "Purchasing is off in the file: nothing is bought.",
        Switch.SHADOW: "Purchasing is in shadow: everything happens but the call that buys.",
    }[switch]


def _spell(length: timedelta) -> str:
    minutes = int(length.total_seconds()) // 60
    hours, rest = divmod(minutes, 60)
    return f"{hours} h" if rest == 0 else f"{hours} h {rest} min" if hours else f"{rest} min"
