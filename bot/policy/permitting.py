"""Who may ask, approve, act alone and administer. Pure: what Slack says comes in as `Standing`."""

from collections.abc import Collection
from enum import StrEnum

from bot.domain.base import Model
from bot.domain.errors import NotAllowedError
from bot.domain.records import Person, Reservation, gpu_id
from bot.policy.configuration import Configuration, Team


class Standing(Model):
    """A person by Slack's own word; `groups` are those of the asked-about groups they are in.

    `person` None: Slack could not say who it is just now.
    """

    user: str
    person: Person | None
    groups: tuple[str, ...] = ()

    def among(self, members: Collection[str]) -> bool:
        """Return whether the person, or a group they are in, is one of the members."""
        return self.user in members or any(group in members for group in self.groups)


class Obstacle(StrEnum):
    """Why somebody may not do it."""

    UNVERIFIED = "unverified"
    INACTIVE = "inactive"
    EXTERNAL = "external"
    NOT_NAMED = "not_named"
    OWN = "own"
    TWICE = "twice"


def unfit(standing: Standing) -> Obstacle | None:
    """Return what keeps this account from deciding anything at all; None when nothing does."""
    person = standing.person
    if person is None or person.id != standing.user:
        return Obstacle.UNVERIFIED
    if not person.active or person.bot:
        return Obstacle.INACTIVE
    if person.external:
        return Obstacle.EXTERNAL
    return None


def may_approve(
    standing: Standing,
    *,
    approvers: Collection[str],
    requester: str,
    owner: str,
    given_by: Collection[str] = (),
) -> Obstacle | None:
    """Return why this person may not approve; None when they may.

    Nobody approves for themselves: neither who asked nor who will own it. The same person
    counts once.
    """
    obstacle = unfit(standing)
    if obstacle is not None:
        return obstacle
    if not standing.among(approvers):
        return Obstacle.NOT_NAMED
    if standing.user in (requester, owner):
        return Obstacle.OWN
    if standing.user in given_by:
        return Obstacle.TWICE
    return None


def may_deny(standing: Standing, *, approvers: Collection[str]) -> Obstacle | None:
    """Return why this person may not deny; None when they may. Denying one's own is harmless."""
    return unfit(standing) or (None if standing.among(approvers) else Obstacle.NOT_NAMED)


def may_ask(standing: Standing, configuration: Configuration) -> Obstacle | None:
    """Return why this person may not file requests; None when they may."""
    obstacle = unfit(standing)
    if obstacle is not None:
        return obstacle
    requesters = configuration.approval.requesters
    if requesters == "anyone" or standing.among(requesters):
        return None
    return Obstacle.NOT_NAMED


def teams_of(standing: Standing, configuration: Configuration) -> tuple[Team, ...]:
    """Return the teams that may pay for this person, in the file's order."""
    return tuple(team for team in configuration.teams if standing.among(team.members))


def asking_groups(configuration: Configuration) -> tuple[str, ...]:
    """Return the user groups whose membership decides who may ask and which team pays."""
    requesters = configuration.approval.requesters
    named = () if requesters == "anyone" else requesters
    members = (*named, *(member for team in configuration.teams for member in team.members))
    return groups_among(members)


def groups_among(members: Collection[str]) -> tuple[str, ...]:
    """Return the user groups (S…) among users and groups, each once, in order."""
    return tuple(dict.fromkeys(member for member in members if member.startswith("S")))


ANYONE = {
    Obstacle.UNVERIFIED: "Slack could not confirm just now who you are. Please try again.",
    Obstacle.INACTIVE: "This account is deactivated or a bot, so it can't decide anything here.",
    Obstacle.EXTERNAL: (
        "You belong to another organisation or workspace. Only members of this one can spend here."
    ),
    Obstacle.TWICE: "You have approved this already. It waits for somebody else's agreement.",
}


def approval_words(obstacle: Obstacle) -> str:
    """Return the sentence that tells somebody why they may not approve or deny."""
    own = {
        Obstacle.NOT_NAMED: "You are not one of the approvers of this amount.",
        Obstacle.OWN: "You asked for this, or will own it, so somebody else must approve it.",
    }
    return (ANYONE | own)[obstacle]


def concerns(reservation: Reservation, user: str, configuration: Configuration) -> bool:
    """Return whether it is theirs to act on: its requester, its owner, or an administrator."""
    return user in (reservation.requester, reservation.owner, *configuration.administrators)


def check_concerned(reservation: Reservation, user: str, configuration: Configuration) -> None:
    """Raise NotAllowedError for somebody whom the reservation does not concern."""
    if not concerns(reservation, user, configuration):
        raise not_yours(gpu_id(reservation.id))


def check_fit(standing: Standing) -> None:
    """Raise NotAllowedError for an account that may decide nothing at all."""
    obstacle = unfit(standing)
    if obstacle is not None:
        raise may_not_decide(obstacle)


def not_yours(reservation_name: str) -> NotAllowedError:
    """Return the refusal of somebody whom a reservation does not concern."""
    return NotAllowedError(
        f"Only the requester, the owner or an administrator may do that with {reservation_name}.",
        code="not_yours",
        name=reservation_name,
    )


def may_not_decide(obstacle: Obstacle) -> NotAllowedError:
    """Return the refusal of somebody who may not approve or deny."""
    return NotAllowedError(approval_words(obstacle), code=f"may_not_{obstacle}")


def may_not_ask(obstacle: Obstacle) -> NotAllowedError:
    """Return the refusal of somebody who may not file a request."""
    code = "may_not_ask" if obstacle is Obstacle.NOT_NAMED else f"may_not_{obstacle}"
    return NotAllowedError(asking_words(obstacle), code=code)


def asking_words(obstacle: Obstacle) -> str:
    """Return the sentence that tells somebody why they may not file a request."""
    own = {Obstacle.NOT_NAMED: "You may not ask for capacity yet; an administrator can add you."}
    return (ANYONE | own).get(obstacle, "You may not ask for capacity.")
