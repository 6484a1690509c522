"""AWS RAM as the Sharer port shows it: one organization, and reasons to refuse."""

from dataclasses import dataclass, field

from bot.domain.errors import IndeterminateError, MarketError, RefusedError
from bot.domain.sharing import Share, ShareOrder

OUTSIDE = RefusedError(
    "OperationNotPermittedException",
    "The resource you are attempting to share can only be shared within your AWS Organization.",
)
Trouble = RefusedError | MarketError | IndeterminateError


@dataclass
class FakeSharer:
    """See bot.ports.Sharer. `trouble`: what the next calls of `share` meet, in order.

    `looks`: how many calls of `share` it takes until a share stands.
    """

    zones: dict[str, tuple[str, str]] = field(default_factory=dict)
    looks: int = 1
    trouble: list[Trouble] = field(default_factory=list)
    lose_answer: bool = False
    shares: dict[str, str] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)
    ended: list[str] = field(default_factory=list)

    def share(self, order: ShareOrder) -> Share:
        if self.trouble:
            raise self.trouble.pop(0)
        if order.name not in self.shares:
            self.shares[order.name] = f"share/{len(self.made) + 1}"
            self.made.append(order.name)
            if self.lose_answer:
                self.lose_answer = False
                raise IndeterminateError("ReadTimeout", "no answer in time")
        self.asked[order.name] = self.asked.get(order.name, 0) + 1
        stands = self.asked[order.name] >= self.looks
        zone_id, zone = self.zones.get(order.capacity_id, ("use1-az4", "us-east-1c"))
        return Share(
            id=self.shares[order.name],
            stands=stands,
            zone_id=zone_id,
            zone=zone if stands else None,
        )

    def unshare(self, order: ShareOrder) -> None:
        if self.shares.pop(order.name, None) is not None:
            self.ended.append(order.name)
