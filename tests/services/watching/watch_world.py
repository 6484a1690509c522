"""The money path's world with watches in it, and a market that is empty at first."""

from dataclasses import dataclass, field

from bot.domain.market import Market, NotRead
from bot.domain.records import Due
from bot.domain.request import Request
from bot.services.requests.watching import Watching
from tests.fakes.clock import NOW
from tests.services.money.stage import REQ, World, asker, request

LINE = "watch 2 p5.48xlarge for 72h"
UNREAD = NotRead(account="research", region="us-east-1", market="capacity_block", why="throttled")


@dataclass
class WatchWorld(World):
    """`looks` are the rows that were carried out."""

    market: Market = field(default_factory=lambda: Market(as_of=NOW))
    looks: list[Due] = field(default_factory=list)

    def restart(self) -> None:
        super().restart()
        self.watching = Watching(
            store=self.store,
            clock=self.clock,
            quoting=self.quoting,
            telling=self.quoting.telling,
            bell=self.bell,
        )
        self.steps["watch"] = self._look

    def _look(self, due: Due) -> str:
        self.looks.append(due)
        return self.watching.look(due)

    def watch(self, wanted: Request | None = None, *, line: str = LINE, user: str = REQ) -> int:
        return self.watching.watch(wanted or request(), line, by=asker(user))

    def sells(self, *offerings, unread: bool = False) -> None:
        self.aws.market = Market(
            as_of=self.clock.now(), offerings=offerings, not_read=(UNREAD,) if unread else ()
        )

    def told(self) -> dict[str, str]:
        """Return what was said to people about watches, by key."""
        return {key: words for key, words in self.said().items() if ":watch-" in key}
