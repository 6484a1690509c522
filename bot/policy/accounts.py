"""Which account a team uses, and whether what another one buys can be used there. Pure.

EC2 User Guide, "Share Capacity Blocks" (April 2026): inside the AWS Organization only, never
UltraServers. SageMaker Developer Guide, "Training plans": most copies say that plans can't be
shared. Machines that are launched run in the account that launches them.
"""

from bot.domain.market import Kind
from bot.domain.sharing import Elsewhere, Hindrance, Way
from bot.policy.configuration import Account, Configuration

_AT_HOME = {
    Kind.TRAINING_PLAN: Hindrance.TRAINING_PLAN,
    Kind.ON_DEMAND: Hindrance.LAUNCHED,
    Kind.SPOT: Hindrance.LAUNCHED,
    Kind.OWNED: Hindrance.HELD,
}
"""Kinds that stay in the account that buys or holds them, with why."""

HINDRANCES = {
    Hindrance.ULTRASERVER: "AWS shares no UltraServers",
    Hindrance.TRAINING_PLAN: "a SageMaker training plan stays in the account that buys it",
    Hindrance.LAUNCHED: "machines run in the account that launches them",
    Hindrance.HELD: "what is lent is used where it is held",
    Hindrance.NOT_NAMED: "the administrator's file does not name it under shares_with",
    Hindrance.OTHER_ORGANIZATION: "AWS shares capacity inside one organization only",
}
"""Why something can't be used from another account, for people."""


def account_named(name: str | None, configuration: Configuration) -> Account | None:
    """Return the account of that name; None when the file has none."""
    return next((one for one in configuration.accounts if one.name == name), None)


def account_used_by(team: str | None, configuration: Configuration) -> Account | None:
    """Return the account that the team's machines run in; None when the file does not say."""
    named = next((one.account for one in configuration.teams if one.name == team), None)
    return account_named(named, configuration)


def elsewhere(
    kind: Kind,
    *,
    ultraserver: bool,
    buyer: str,
    team: str | None,
    configuration: Configuration,
    zone_id: str | None = None,
) -> Elsewhere | None:
    """Return how the team gets at what `buyer` buys; None when it is used where it is bought."""
    user = account_used_by(team, configuration)
    if user is None or user.name == buyer:
        return None
    way, hindrance = _way(kind, account_named(buyer, configuration), user, ultraserver=ultraserver)
    return Elsewhere(buyer=buyer, user=user.name, way=way, hindrance=hindrance, zone_id=zone_id)


def _way(
    kind: Kind, buyer: Account | None, user: Account, *, ultraserver: bool
) -> tuple[Way, Hindrance | None]:
    hindrance = _AT_HOME.get(kind) or (Hindrance.ULTRASERVER if ultraserver else None)
    if hindrance is not None:
        return Way.STAYS, hindrance
    if buyer is None or user.name not in buyer.shares_with:
        return Way.STAYS, Hindrance.NOT_NAMED
    if buyer.organization is None or user.organization is None:
        return Way.UNSURE, Hindrance.ORGANIZATION_UNKNOWN
    if buyer.organization != user.organization:
        return Way.STAYS, Hindrance.OTHER_ORGANIZATION
    return Way.SHARED, None
