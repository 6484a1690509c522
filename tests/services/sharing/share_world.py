"""The world after a purchase, with two accounts: one buys, the team uses the other."""

from dataclasses import dataclass, field

from bot.catalog import packaged
from bot.domain.sharing import ShareRecord
from bot.policy.configuration import Account, Team
from bot.services.endings.moving import Moving
from bot.services.reservations.sequels import KIT, SURVEY
from bot.services.reservations.sharing import SHARE, UNSHARE, Sharing, shares_of
from bot.services.running.kits import Kits
from bot.services.words.pleading import Pleading
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

SPEECH = PROD.model_copy(update={"name": "speech-prod", "account_id": "777788889999"})


class NoTags:
    """Nobody looks at AWS's tags here; see bot.ports.Tagger."""

    def tag(self, receipt, *, owner, team) -> None:
        """Leave them."""


@dataclass
class ShareWorld(AfterWorld):
    sharer: FakeSharer = field(default_factory=FakeSharer)
    surveyed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        (research,) = self.configuration.accounts
        buyer = research.model_copy(
            update={"organization": ORGANIZATION, "shares_with": (PROD.name, SPEECH.name)}
        )
        (team,) = self.configuration.teams
        self.configuration = self.configuration.model_copy(
            update={
                "accounts": (buyer, PROD, SPEECH),
                "teams": (
                    team.model_copy(update={"account": PROD.name}),
                    Team(name="speech", members=("U0LIN",), account=SPEECH.name),
                    Team(name="infra", members=("U0LIN",), account=buyer.name),
                ),
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
        self.moving = Moving(
            store=self.store,
            clock=self.clock,
            tagger=NoTags(),
            telling=self.following.telling,
            configuration=self.configuration,
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
            "tag": self.moving.tag,
        }

    def _survey(self, due) -> None:
        """What is there when it is looked up what is left."""
        self.surveyed.append(" ".join(self.sharer.shares) or "no share")

    def record(self, number: int) -> ShareRecord | None:
        """The newest record of a share."""
        with self.store.reading() as tx:
            found = [one for r in tx.receipts.of(number) for one in shares_of(tx, r)]
            return max(found, key=lambda one: one.changed_at, default=None)

    def actions(self, number: int) -> list[str]:
        with self.store.reading() as tx:
            entries = [entry for entry in tx.audit.of(number) if "share" in entry.action]
            return [entry.action for entry in entries]
