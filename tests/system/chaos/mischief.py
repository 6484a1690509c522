"""What goes wrong in a run: drawn from the seed, and set just before people act."""

import random
from dataclasses import dataclass

BUYING = (
    "kill-before-call",
    "kill-before-answer",
    "kill-after-answer",
    "lost-request",
    "lost-answer",
    "truncated-answer",
    "slow:1",
    "slow-sale:1",
    "throttle",
    "error:InternalError",
    "error:InsufficientCapacity",
    "error:InvalidParameterValue",
    "error:ServiceUnavailable",
    "error:AnErrorOfNextYear",
)
READING = ("throttle", "lost-answer", "truncated-answer", "slow:1", "kill-before-answer")
READ = ("DescribeCapacityBlockOfferings", "DescribeCapacityReservations", "GetServiceQuota")
SLACK = ("429:2", "500", "disconnect", "error:internal_error", "error:fatal_error")
SLACK_METHODS = ("chat.postMessage", "chat.update", "users.info", "chat.postEphemeral")


@dataclass(frozen=True)
class Mischief:
    """Everything that is done to one run, drawn ahead."""

    buying: str | None
    reading: tuple[tuple[str, str], ...]
    slack: tuple[tuple[str, str, int], ...]
    event: str | None
    kills_after: tuple[float, ...]
    second_bot: bool
    deliveries: int
    crowd: bool
    intruder: str | None
    stop: str | None
    late: bool
    deny: bool
    socket_cut: bool
    full_disk: bool
    jump: str | None

    def said(self) -> str:
        """In a line, for who has to find out what happened."""
        parts = [
            self.buying and f"buying {self.buying}",
            self.reading and f"reading {self.reading}",
            self.slack and f"slack {self.slack}",
            self.event and f"event {self.event}",
            self.kills_after and f"kills after {self.kills_after}",
            self.second_bot and "two bots",
            self.deliveries > 1 and f"delivered {self.deliveries} times",
            self.crowd and "pressed by all at once",
            self.intruder and f"intruder {self.intruder}",
            self.stop and f"stop {self.stop}",
            self.late and "approved late",
            self.deny and "denied, too",
            self.socket_cut and "socket cut",
            self.full_disk and "disk full",
            self.jump and f"clock jumps {self.jump}",
        ]
        return "; ".join(part for part in parts if part) or "nothing"


def draw(rng: random.Random) -> Mischief:
    """The mischief of one run: often several things at once."""

    def now_and_then(share: float) -> bool:
        return rng.random() < share

    return Mischief(
        buying=rng.choice(BUYING) if now_and_then(0.6) else None,
        reading=tuple(
            (rng.choice(READ), rng.choice(READING)) for _ in range(rng.choice((0, 0, 0, 1, 2)))
        ),
        slack=tuple(
            (rng.choice(SLACK_METHODS), rng.choice(SLACK), rng.choice((1, 1, 2)))
            for _ in range(rng.choice((0, 0, 1, 2)))
        ),
        event=rng.choice(("price-up", "price-down", "sold-out", "payment-failed"))
        if now_and_then(0.3)
        else None,
        kills_after=tuple(
            round(rng.uniform(0, 1.2), 3) for _ in range(rng.choice((0, 0, 1, 1, 2)))
        ),
        second_bot=now_and_then(0.3),
        deliveries=rng.choice((1, 1, 2, 3)),
        crowd=now_and_then(0.4),
        intruder=rng.choice(("U0ANA", "U0LIN", "U0DIEGO")) if now_and_then(0.3) else None,
        stop=rng.choice(("before", "at once", "after expiry")) if now_and_then(0.15) else None,
        late=now_and_then(0.08),
        deny=now_and_then(0.08),
        socket_cut=now_and_then(0.1),
        full_disk=now_and_then(0.12),
        jump=rng.choice(("30s", "3m", "40m")) if now_and_then(0.12) else None,
    )
