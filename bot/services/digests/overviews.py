"""What people look at without asking for anything: digest, budget, calendar, market, settings.

Everything here reads; nothing is filed, held or bought.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from bot.catalog import Catalog
from bot.domain.errors import UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.records import Person
from bot.domain.request import Request
from bot.domain.saying import Announcement, Audience, Mention, Moment, Section
from bot.domain.values import utc_text
from bot.policy.ceilings import day_of, month_of
from bot.policy.configuration import Configuration
from bot.policy.permitting import asking_groups, groups_among, teams_of
from bot.ports import Bell, Clock, Store
from bot.services.digests.coming_days import coming_sections, zone_of
from bot.services.digests.digesting import Digesting
from bot.services.digests.market_words import DAY_HOURS, market_section
from bot.services.digests.money_sheet import day_section, month_section, sheet
from bot.services.requests.quoting import Quoting
from bot.services.verifying import Verifying
from bot.services.words.house_words import own_section, policy_sections
from bot.services.words.views import switch_of

if TYPE_CHECKING:
    from bot.domain.market import Market

ALL = 100_000
HELD = frozenset(
    {ReservationState.ACTIVE, ReservationState.SCHEDULED, ReservationState.PAYMENT_PENDING}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overviews:
    """Answers looks; each returns sections for the person who looks."""

    store: Store
    clock: Clock
    verifying: Verifying
    digesting: Digesting
    quoting: Quoting
    catalog: Catalog
    configuration: Configuration
    bell: Bell

    def digest(self, user: str) -> tuple[Section, ...]:
        """Return the digest as it would be now, with the money of the person's own teams."""
        if user in self.configuration.administrators:
            return self.digesting.preview()
        return self.digesting.preview(teams=self._team_names(user))

    def post_digest(self, *, by: str) -> str:
        """Post the digest of now where digests are posted; at most one in each minute."""
        now = self.clock.now()
        at = now.replace(second=0, microsecond=0)
        sections = self.digesting.preview()
        asked = Section(sentences=(("Asked for by ", Mention(id=by, ping=False), "."),))
        with self.store.transaction() as tx:
            new = tx.outbox.put(
                f"digest:asked:{utc_text(at)}",
                Announcement(
                    kind="digest",
                    to=Audience(channel=self.configuration.channels.digest),
                    sections=(*sections, asked),
                ),
                at=now,
            )
        self.bell.ring()
        return "It is posted." if new else "It was posted within this minute already."

    def budget(self, user: str) -> tuple[Section, ...]:
        """Return the month of each of the person's teams; administrators see every team."""
        now = self.clock.now()
        names = self._paying_teams(user)
        since, until = month_of(now)
        midnight, next_midnight = day_of(now)
        with self.store.reading() as tx:
            entries = tx.budget.entries(since=since, until=until)
            today = tx.budget.entries(since=midnight, until=next_midnight)
        whole = user in self.configuration.administrators
        if whole:
            paid = {entry.team or "" for entry in entries if entry.state != "freed"}
            names = (*names, *sorted(paid - set(names)))
        sections = [month_section(sheet(name, entries, self.configuration), now) for name in names]
        if not sections:
            sections.append(
                Section(
                    title="No team",
                    sentences=(
                        ("You are in no team, so there is no budget of yours to show.",),
                        ("An administrator can add you to a team in the file.",),
                    ),
                )
            )
        return (*sections, day_section(today, self.configuration, now))

    def calendar(self, person: Person) -> tuple[Section, ...]:
        """Return what is held and what starts and ends in the coming 14 days, by local day."""
        now = self.clock.now()
        with self.store.reading() as tx:
            live = tx.reservations.listing(states=HELD, limit=ALL, newest_first=False)
            receipts = {one.id: tuple(tx.receipts.of(one.id)) for one in live}
        sections = coming_sections(live, receipts, user=person.id, zone=person.zone, now=now)
        zone = zone_of(person.zone).key
        head = Section(
            title="The coming 14 days",
            sentences=(
                (f"Days in {zone}. As of ", Moment(at=now), "."),
                *(() if sections else (("Nothing is held, and nothing starts or ends.",),)),
            ),
        )
        return (head, *sections)

    def market(
        self, person: Person, *, instance_type: str = "", family: str = "", accelerator: str = ""
    ) -> tuple[Section, ...]:
        """Return what is on sale of a type, of all types of a family, or with an accelerator.

        Raises UserError for what the catalog does not know.
        """
        names = self._types(instance_type, family, accelerator)
        read: dict[Request, Market] = {}
        sections: list[Section] = []
        for name in names:
            request = self._look(name, alone=len(names) == 1)
            if request not in read:
                market, _ = self.quoting.plan(request, zone=person.zone, requester=person.id)
                read[request] = market
            sections.append(market_section(name, read[request], self.catalog, hours=DAY_HOURS))
        return tuple(sections)

    def settings(self, person: Person) -> tuple[Section, ...]:
        """Return what counts for the person; administrators also get the policy in force."""
        tiers = self.configuration.approval.tiers
        approvers = [who for tier in tiers for who in (*tier.approvers, *tier.quiet)]
        groups = (*asking_groups(self.configuration), *groups_among(approvers))
        standing = self.verifying.standing(person.id, groups)
        own = own_section(standing, person, self.configuration)
        if person.id not in self.configuration.administrators:
            return (own,)
        with self.store.reading() as tx:
            switch = switch_of(tx, self.configuration)
        return (own, *policy_sections(self.configuration, switch))

    def _paying_teams(self, user: str) -> tuple[str, ...]:
        if user in self.configuration.administrators:
            return tuple(team.name for team in self.configuration.teams)
        return self._team_names(user)

    def _team_names(self, user: str) -> tuple[str, ...]:
        standing = self.verifying.standing(user, asking_groups(self.configuration))
        return tuple(team.name for team in teams_of(standing, self.configuration))

    def _look(self, name: str, *, alone: bool) -> Request:
        """Return the fewest words that read one machine of a type: its kin are read along."""
        day = Decimal(DAY_HOURS)
        if name.startswith("u-"):
            return Request(ultraserver_type=name, instance_count=1, duration_hours=day)
        if alone:
            return Request(instance_type=name, instance_count=1, duration_hours=day)
        accelerator = self.catalog.types[name].accelerator
        return Request(accelerator=accelerator, accelerator_count=1, duration_hours=day)

    def _types(self, instance_type: str, family: str, accelerator: str) -> tuple[str, ...]:
        types = self.catalog.types
        if instance_type in types:
            return (instance_type,)
        wanted = accelerator.casefold()
        found = tuple(
            kind.name
            for kind in types.values()
            if (family and kind.family == family)
            or (wanted and kind.accelerator.casefold() == wanted)
        )
        if not found:
            raise UserError("I know no such machines.", hint="market p5.48xlarge")
        return found
