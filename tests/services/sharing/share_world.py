"""The world after a purchase, with two accounts: one buys, the team uses the other."""

from dataclasses import dataclass, field

from bot.catalog import packaged
from bot.domain.sharing import ShareRecord
from bot.policy.configuration import Account
from bot.services.kits import Kits
from bot.services.pleading import Pleading
from bot.services.sequels import KIT, SURVEY
from bot.services.sharing import SHARE, UNSHARE, Sharing, shares_of
from tests.fakes.sharing import FakeSharer
from tests.services.after.after_world import AfterWorld

ORGANIZATION = "o-a1b2c3d4e5"
PROD = Account(
    name="vision-prod",
    account_id="444455556666",
    regions=("us-east-1",),
    organization=ORGANIZATION,
    subnets={"us-east-1c": "subnet-0c0c0c0c0c0c0c0c0"},
    launch_templates={"us-east-1": "lt-0b0b0b0b0b0b0b0b0"},
)


@dataclass
class ShareWorld(AfterWorld):
    sharer: FakeSharer = field(default_factory=FakeSharer)
    surveyed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        (research,) = self.configuration.accounts
        buyer = research.model_copy(
            update={"organization": ORGANIZATION, "shares_with": (PROD.name,)}
        )
        (team,) = self.configuration.teams
        self.configuration = self.configuration.model_copy(
            update={
                "accounts": (buyer, PROD),
                "teams": (team.model_copy(update={"account": PROD.name}),),
            }
        )
        self.start()

    def start(self) -> None:
        super().start()
        self.sharing = Sharing(
            store=self.store,
            clock=self.clock,
            sharer=self.sharer,
            telling=self.following.telling,
            pleading=Pleading(configuration=self.configuration),
        )
        self.kits = Kits(
            store=self.store,
            clock=self.clock,
            catalog=packaged(),
            configuration=self.configuration,
        )
        self.duties.steps = {
            **self.duties.steps,
            SHARE: self.sharing.share,
            UNSHARE: self.sharing.unshare,
            KIT: self.kits.give,
            SURVEY: self._survey,
        }

    def _survey(self, due) -> None:
        """What is there when it is looked up what is left."""
        self.surveyed.append(" ".join(self.sharer.shares) or "no share")

    def record(self, number: int) -> ShareRecord | None:
        with self.store.reading() as tx:
            return next(iter(shares_of(tx, number)), None)

    def actions(self, number: int) -> list[str]:
        with self.store.reading() as tx:
            entries = [entry for entry in tx.audit.of(number) if "share" in entry.action]
            return [entry.action for entry in entries]
