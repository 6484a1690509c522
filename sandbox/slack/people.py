"""Who is in the simulated workspace, and where they talk."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

TEAM_ID = "T0GPU"
PARTNER_TEAM_ID = "T0PARTNER"
TEAM_DOMAIN = "gpu-sandbox"
APP_ID = "A0GPUBOT"
BOT_ID = "B0GPUBOT"
BOT_USER_ID = "U0GPUBOT"


class Value(BaseModel):
    """A frozen value of the sandbox that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Person(Value):
    """A member of the workspace, or a stranger who reaches it by Slack Connect."""

    id: str = Field(pattern=r"^[UW][A-Z0-9]{2,20}$")
    name: str = Field(pattern=r"^[a-z0-9._-]{1,80}$")
    real_name: str = Field(min_length=1, max_length=80)
    tz: str = "Etc/UTC"
    locale: str = "en-US"
    role: str = ""
    team_id: str = TEAM_ID
    deleted: bool = False

    @property
    def is_stranger(self) -> bool:
        """Whether another organisation employs this person."""
        return self.team_id != TEAM_ID

    @property
    def direct_channel(self) -> str:
        """The id of the bot's direct messages with this person."""
        return "D" + self.id[1:]


class Channel(Value):
    """A place for messages; `direct_with` names the person of a direct message."""

    id: str
    name: str
    members: tuple[str, ...] = ()
    is_private: bool = False
    is_ext_shared: bool = False
    direct_with: str | None = None

    @property
    def kind(self) -> Literal["directmessage", "privategroup", "channel"]:
        """What Slack sends as the nature of the channel."""
        if self.direct_with is not None:
            return "directmessage"
        return "privategroup" if self.is_private else "channel"

    @property
    def sent_name(self) -> str:
        """What Slack sends as `channel_name`: only public channels have their own name."""
        return self.name if self.kind == "channel" else self.kind


class UserGroup(Value):
    """A group of people who are mentioned by one handle."""

    id: str
    handle: str
    users: tuple[str, ...]


def default_people() -> tuple[Person, ...]:
    """The people of the control surface's contract."""
    return (
        Person(
            id="U0ANA",
            name="ana",
            real_name="Ana Engineer",
            tz="Europe/Berlin",
            role="engineer",
        ),
        Person(
            id="U0LIN",
            name="lin",
            real_name="Lin Engineer",
            tz="America/Sao_Paulo",
            locale="pt-BR",
            role="engineer",
        ),
        Person(
            id="U0BRUNO",
            name="bruno",
            real_name="Bruno Approver",
            tz="America/Sao_Paulo",
            role="approver",
        ),
        Person(
            id="U0CARLA",
            name="carla",
            real_name="Carla Approver",
            tz="Europe/Madrid",
            locale="es-ES",
            role="approver",
        ),
        Person(
            id="U0DIEGO",
            name="diego",
            real_name="Diego Administrator",
            tz="America/New_York",
            role="administrator",
        ),
        Person(
            id="U0EVE",
            name="eve",
            real_name="Eve Elsewhere",
            tz="Europe/London",
            role="another organisation",
            team_id=PARTNER_TEAM_ID,
        ),
        Person(
            id="U0GONE",
            name="gone",
            real_name="Gone Colleague",
            tz="Europe/Berlin",
            role="deactivated",
            deleted=True,
        ),
    )


def default_channels(people: tuple[Person, ...]) -> tuple[Channel, ...]:
    """The channels of the contract, one shared with the other organisation, and all DMs."""
    own = tuple(p.id for p in people if not p.is_stranger and not p.deleted)
    strangers = tuple(p.id for p in people if p.is_stranger)
    rooms = (
        Channel(id="C0GPU", name="gpu", members=(*own, BOT_USER_ID)),
        Channel(id="C0APPROVE", name="gpu-approvals", members=(*own, BOT_USER_ID)),
        Channel(
            id="C0SHARED",
            name="gpu-with-partner",
            members=(*own, *strangers, BOT_USER_ID),
            is_ext_shared=True,
        ),
    )
    direct = tuple(
        Channel(id=p.direct_channel, name=p.name, members=(p.id, BOT_USER_ID), direct_with=p.id)
        for p in people
    )
    return rooms + direct


def default_groups() -> tuple[UserGroup, ...]:
    """Two groups, so that rules may name groups instead of people."""
    return (
        UserGroup(id="S0APPROVERS", handle="gpu-approvers", users=("U0BRUNO", "U0CARLA")),
        UserGroup(id="S0VISION", handle="vision", users=("U0ANA", "U0LIN")),
    )
