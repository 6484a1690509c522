"""What one reading asks, where it asks, and what each part of it brought home."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.domain.errors import MarketError
from bot.domain.market import HourlyRate, Kind, Market, NotRead, Offering, Owned, Quota
from bot.domain.request import Request, Target
from bot.engine.wanted import Wanted


@dataclass(frozen=True, slots=True)
class Place:
    """One account in one Region."""

    account: str
    region: str


@dataclass(frozen=True, slots=True)
class Question:
    """A request as the markets are asked for it; `refused` says when a row was, by its ref."""

    request: Request
    target: Target
    wanted: tuple[Wanted, ...]
    now: datetime
    refused: Mapping[str, datetime]
    kinds: frozenset[Kind]

    @property
    def on_ec2(self) -> bool:
        """Whether the machines are used on EC2 itself."""
        return self.target is Target.EC2


@dataclass(slots=True)
class Found:
    """What one part of a reading brought home; a part never raises, it names its gaps."""

    offerings: list[Offering] = field(default_factory=list)
    hourly: list[HourlyRate] = field(default_factory=list)
    owned: list[Owned] = field(default_factory=list)
    quotas: list[Quota] = field(default_factory=list)
    not_read: list[NotRead] = field(default_factory=list)

    def add(self, other: "Found") -> None:
        """Take over what another part found."""
        self.offerings += other.offerings
        self.hourly += other.hourly
        self.owned += other.owned
        self.quotas += other.quotas
        self.not_read += other.not_read

    def missed(self, place: Place, market: str, why: str, detail: str) -> None:
        """Name a market that was not read; the same gap is named once."""
        gap = NotRead(
            account=place.account, region=place.region, market=market, why=why, detail=detail
        )
        if gap not in self.not_read:
            self.not_read.append(gap)

    def guard(self, place: Place, market: str, step: Callable[[], None]) -> None:
        """Take the step; if AWS does not answer it, name the market as not read."""
        try:
            step()
        except MarketError as error:
            self.missed(place, market, error.why, error.detail)

    def market(self, as_of: datetime) -> Market:
        """Return everything, in an order that does not depend on which answer came first."""
        return Market(
            as_of=as_of,
            offerings=tuple(sorted(self.offerings, key=lambda o: (o.account, o.region, o.ref))),
            hourly=tuple(sorted(self.hourly, key=lambda rate: rate.ref)),
            owned=tuple(sorted(self.owned, key=lambda held: (held.account, held.region, held.ref))),
            quotas=tuple(
                sorted(self.quotas, key=lambda q: (q.account, q.region, q.name, q.code or ""))
            ),
            not_read=tuple(
                sorted(self.not_read, key=lambda n: (n.account, n.region, n.market, n.why))
            ),
        )
