"""Capacity that one account buys and another one uses: what is to be shared, and how it stands."""

from enum import StrEnum

from bot.domain.base import Model
from bot.domain.values import Instant


class Way(StrEnum):
    """How what one account buys is used from another."""

    SHARED = "shared"
    UNSURE = "unsure"
    STAYS = "stays"


class Hindrance(StrEnum):
    """What keeps it in the account that buys it, or may do so."""

    ULTRASERVER = "ultraserver"
    TRAINING_PLAN = "training plan"
    LAUNCHED = "launched"
    HELD = "held"
    NOT_NAMED = "not named"
    OTHER_ORGANIZATION = "other organization"
    ORGANIZATION_UNKNOWN = "organization unknown"


class Elsewhere(Model):
    """Capacity of account `buyer` for a team that uses account `user`.

    `hindrance` is set unless it is plainly shared. `zone_id` is the same in every account.
    """

    buyer: str
    user: str
    way: Way
    hindrance: Hindrance | None = None
    zone_id: str | None = None

    @property
    def shareable(self) -> bool:
        """Return whether sharing it is worth a try."""
        return self.way is not Way.STAYS


class ShareOrder(Model):
    """What is to be shared: a capacity reservation of `account`, for the account `consumer`.

    It never changes once written, so that a repeated request is the same request. `turn` counts
    the times that it was shared with that account.
    """

    capacity_id: str
    account: str
    region: str
    consumer: str
    purchase_id: str
    reservation_id: int
    owner: str
    team: str | None
    turn: int = 1

    @property
    def name(self) -> str:
        """Return the share's name, by which it is found again."""
        again = f"-{self.turn}" if self.turn > 1 else ""
        return f"{self.purchase_id}-{self.capacity_id}-{self.consumer}{again}"


class Share(Model):
    """A share as AWS shows it now. `zone` is the zone's name in the consumer's account.

    `stands`: AWS shows both the reservation and the consumer as associated. `zone` is None while
    the consumer does not see the reservation.
    """

    id: str
    stands: bool
    zone_id: str | None = None
    zone: str | None = None


class ShareStage(StrEnum):
    """How far a share is."""

    WANTED = "wanted"
    STANDING = "standing"
    REFUSED = "refused"
    ENDING = "ending"
    OVER = "over"


class ShareRecord(Model):
    """Our record of one share. `tries` counts looks and attempts; `why` is AWS's last refusal."""

    order: ShareOrder
    stage: ShareStage = ShareStage.WANTED
    share: Share | None = None
    tries: int = 0
    why: str = ""
    changed_at: Instant
