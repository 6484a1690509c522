"""What people look at: every verb is typed, and what comes back would be taken by Slack."""

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.catalog import packaged
from bot.domain.market import Kind, NotRead
from bot.domain.records import BudgetEntry, Person
from bot.language import parse
from bot.services.digests.overviews import Overviews
from bot.services.verifying import Verifying
from handlers import overview
from handlers.answering import MOST_ANSWERS
from handlers.commands import KNOWN as VERBS
from handlers.ids import ButtonValue
from tests.fakes.bell import FakeBell
from tests.fakes.clock import NOW
from tests.fakes.people import FakePeople
from tests.handlers.block_kit import faults
from tests.services.after.after_world import world_on
from tests.unit.engine.markets import block, hourly, market_of, owned

ADMIN = "U0CHIEF"


@dataclass
class Looks:
    """See Quoting.plan: what the market shows, and what was asked."""

    market: object
    asked: list

    def plan(self, request, *, zone, requester):
        self.asked.append(request)
        return self.market, None


@dataclass
class DeskOf:
    overviews: Overviews


@dataclass
class Line:
    parsed: object
    person: Person

    @property
    def user(self):
        return self.person.id


@dataclass
class Press:
    value: ButtonValue
    user: str


class Scene:
    def __init__(self) -> None:
        self.world = world_on("memory://")
        self.people = FakePeople(self.world.clock)
        self.looks = Looks(market_of(), [])
        self.change()

    def change(self, **update) -> None:
        configuration = self.world.configuration
        teams = tuple(
            team.model_copy(update={"members": ("U0ANA",)}) if team.name == "vision" else team
            for team in configuration.teams
        )
        self.world.configuration = configuration.model_copy(
            update={"administrators": (ADMIN,), "teams": teams} | update
        )
        self.world.start()
        self.desk = DeskOf(
            Overviews(
                store=self.world.store,
                clock=self.world.clock,
                verifying=Verifying(people=self.people),
                digesting=self.world.digesting,
                quoting=self.looks,
                catalog=packaged(),
                configuration=self.world.configuration,
                bell=FakeBell(),
            )
        )

    def say(self, text: str, *, user: str = "U0ANA", zone: str = "Europe/Berlin") -> str:
        parsed = parse(text, now=NOW, zone=zone, locale="en-US", catalog=packaged())
        person = self.people.person(user, max_age=timedelta(0)).model_copy(update={"zone": zone})
        reply = overview.VERBS[str(parsed.command)](Line(parsed, person), self.desk)
        self.messages = reply.messages
        for message in reply.messages:
            assert faults(list(message.blocks)) == []
            assert message.text
        return "\n".join(
            block["text"]["text"]
            for message in reply.messages
            for block in message.blocks
            if "text" in block
        )


@pytest.fixture
def scene():
    scene = Scene()
    yield scene
    scene.world.store.close()


def amounts(text: str, word: str) -> Decimal:
    found = re.findall(rf"\$([\d,.]+\d) {word}", text)
    return sum((Decimal(one.replace(",", "")) for one in found), Decimal(0))


def test_a_budget_says_whose_figures_it_shows_and_from_when(scene):
    said = scene.say("budget")
    assert "By my own ledger, as of <!date^" in said
    assert "What was bought without me is not in it." in said


def test_every_look_is_a_verb_of_the_house() -> None:
    assert overview.VERBS.items() <= VERBS.items()


# --- budget -------------------------------------------------------------------------------------


def test_a_budget_says_limit_held_bought_and_left_and_its_lines_sum_to_the_cent(scene) -> None:
    for _ in range(7):
        scene.world.bought(NOW + timedelta(days=2), NOW + timedelta(days=4), fee="1105.1037")
    with scene.world.store.transaction() as tx:
        tx.budget.hold(
            BudgetEntry(
                purchase_key="gpu-1/9",
                reservation_id=1,
                team="vision",
                amount=Decimal("0.333"),
                state="held",
                held_at=NOW,
            )
        )
    said = scene.say("budget")
    assert "vision in March 2027 (UTC)" in said
    assert "$7,735.7259 bought, $0.333 held" in said
    limit = next(
        t.monthly_budget_usd for t in scene.world.configuration.teams if t.name == "vision"
    )
    assert f"left *${limit - Decimal('7736.0589'):,.4f}*" in said
    lines = said.split("not bought yet.")[1].split("Daily ceiling")[0]
    assert amounts(lines, "bought") == Decimal("7735.7259")
    assert amounts(lines, "held") == Decimal("0.333")


def test_a_budget_says_what_is_left_of_the_day(scene) -> None:
    scene.change(daily_ceiling_usd=Decimal(2000))
    scene.world.bought(NOW + timedelta(days=2), NOW + timedelta(days=4))
    assert "$1,105.10 of $2,000.00 today, left *$894.90*" in scene.say("budget")


def test_somebody_in_no_team_is_told_so_and_sees_no_teams_money(scene) -> None:
    scene.world.bought(NOW + timedelta(days=2), NOW + timedelta(days=4))
    said = scene.say("budget", user="U0NEW")
    assert "You are in no team" in said
    assert "vision" not in said


def test_an_administrator_sees_every_team_and_what_no_team_pays(scene) -> None:
    scene.world.bought(NOW + timedelta(days=2), NOW + timedelta(days=4))
    with scene.world.store.transaction() as tx:
        tx.budget.hold(
            BudgetEntry(
                purchase_key="gpu-1/9",
                reservation_id=1,
                team=None,
                amount=Decimal(5),
                state="held",
                held_at=NOW,
            )
        )
    said = scene.say("budget", user=ADMIN)
    for team in scene.world.configuration.teams:
        assert f"{team.name} in March 2027" in said
    assert "No team in March 2027" in said


def test_what_was_freed_is_in_no_budget(scene) -> None:
    scene.world.bought(NOW + timedelta(days=2), NOW + timedelta(days=4))
    with scene.world.store.transaction() as tx:
        tx.budget.free(tx.budget.entries()[0].purchase_key)
    assert "$0.00 bought" in scene.say("budget")


# --- calendar -----------------------------------------------------------------------------------


def test_a_calendar_is_by_the_day_of_whoever_looks(scene) -> None:
    midnight = (NOW + timedelta(days=2)).replace(hour=23, minute=30)
    scene.world.bought(midnight, midnight + timedelta(days=1))
    berlin = scene.say("calendar", zone="Europe/Berlin")
    assert f"{(midnight + timedelta(days=1)).date()}" in berlin
    assert f"{midnight.date()}" not in berlin
    assert f"{midnight.date()}" in scene.say("calendar", zone="UTC")


def test_a_calendar_shows_the_readers_own_first(scene) -> None:
    start = NOW + timedelta(days=3)
    for _ in range(3):
        scene.world.bought(start, start + timedelta(days=2))
    with scene.world.store.transaction() as tx:
        last = tx.reservations.get(3)
        tx.reservations.save(last.model_copy(update={"owner": "U0LIN", "requester": "U0LIN"}))
    said = scene.say("calendar", user="U0LIN")
    day = said.split(f"{start.date()}")[1]
    assert day.index("gpu-3") < day.index("gpu-1")


def test_a_calendar_tells_what_is_held_now_and_says_when_nothing_is(scene) -> None:
    assert "Nothing is held" in scene.say("calendar")
    scene.world.bought(NOW - timedelta(days=1), NOW + timedelta(days=30), state="active")
    said = scene.say("calendar")
    assert "Held now" in said
    assert "*gpu-1* 2 x p5.48xlarge" in said


@pytest.mark.parametrize("count", [80, 800])
def test_every_id_stands_in_the_calendar_within_what_slack_takes(scene, count) -> None:
    for number in range(count):
        start = NOW + timedelta(hours=1 + number % 300)
        scene.world.bought(start, start + timedelta(days=3))
    said = scene.say("calendar")
    assert len(scene.messages) <= MOST_ANSWERS
    listed = set(re.findall(r"gpu-\d+", said))
    assert listed == {f"gpu-{number}" for number in range(1, count + 1)}


# --- market -------------------------------------------------------------------------------------


def test_the_market_tells_each_price_with_its_source_and_age(scene) -> None:
    scene.looks.market = market_of(
        hourly(Kind.ON_DEMAND, "od", "55.04"),
        hourly(Kind.SPOT, "spot", "20.5", source="spot-price-history", placement_score=7),
        block(),
        owned("cr-a"),
        NotRead(account="research", region="us-west-2", market="spot", why="throttled"),
    )
    said = scene.say("market p5.48xlarge")
    assert "*On-Demand*: $55.04 an hour" in said
    assert "(score 7 of 10)" in said
    assert "By spot-price-history, read" in said
    assert "*Capacity Block*: 1 on sale" in said
    assert "*Owned and free*" in said
    assert "*Not read*: spot in us-west-2, research (throttled)" in said
    assert "/gpu plan 1 p5.48xlarge for 1d" in said
    assert scene.looks.asked[0].instance_count == 1


@pytest.mark.parametrize("text", ["market p5", "market H200", "market p5.48xlarge"])
def test_a_market_is_looked_at_by_type_family_or_accelerator(scene, text) -> None:
    scene.say(text)
    assert len(scene.looks.asked) == 1
    titles = [
        block["text"]["text"]
        for message in scene.messages
        for block in message.blocks
        if block["type"] == "header"
    ]
    known = packaged().types
    shown = {title.split(":")[0] for title in titles}
    assert (
        shown
        == {
            "market p5": {name for name, kind in known.items() if kind.family == "p5"},
            "market H200": {name for name, kind in known.items() if kind.accelerator == "H200"},
            "market p5.48xlarge": {"p5.48xlarge"},
        }[text]
    )


def test_the_largest_family_fits_what_slack_takes(scene) -> None:
    scene.looks.market = market_of(
        *(
            hourly(Kind.ON_DEMAND, f"{name}-{n}", f"{n + 1}.5", instance_type=name, region=f"r-{n}")
            for name, kind in packaged().types.items()
            if kind.accelerator == "L4"
            for n in range(8)
        )
    )
    scene.say("market L4")
    assert len(scene.messages) <= MOST_ANSWERS


# --- settings -----------------------------------------------------------------------------------


def test_settings_tell_a_person_what_counts_for_them_and_no_policy(scene) -> None:
    said = scene.say("settings")
    assert "Time zone: Europe/Berlin" in said
    assert "Teams that pay for you: vision" in said
    assert "Quiet hours: 22:00 to 07:00" in said
    assert "Daily ceiling" not in said


def test_settings_tell_administrators_the_policy_in_force(scene) -> None:
    with scene.world.store.transaction() as tx:
        tx.facts.put("switch", "off", at=NOW)
    said = scene.say("settings", user=ADMIN)
    assert "You are an administrator" in said
    assert "Purchasing is off (the file says" in said
    assert "Up to $" in said


# --- digest -------------------------------------------------------------------------------------


def test_a_digest_on_demand_is_private_and_unfolded(scene) -> None:
    start = NOW + timedelta(days=2)
    scene.world.bought(start, start + timedelta(days=2))
    scene.world.run_until(NOW + timedelta(days=1))
    posts = dict(scene.world.messenger.said)
    said = scene.say("digest")
    assert "*gpu-1* 2 x p5.48xlarge" in said
    assert "As yesterday" not in said
    assert scene.world.messenger.said == posts


def test_a_digest_on_demand_shows_only_the_money_of_ones_own_teams(scene) -> None:
    start = NOW + timedelta(days=2)
    scene.world.bought(start, start + timedelta(days=2))
    assert "vision this month" in scene.say("digest")
    assert "vision this month" in scene.say("digest", user=ADMIN)
    assert "vision this month" not in scene.say("digest", user="U0NEW")


def test_a_digest_is_posted_on_request_once_a_minute(scene) -> None:
    scene.world.bought(NOW + timedelta(days=2), NOW + timedelta(days=4))
    scene.say("digest")
    [button] = [
        element
        for block in scene.messages[-1].blocks
        for element in block.get("elements", [])
        if element.get("action_id") == "gpu.digest.post"
    ]
    press = Press(ButtonValue.read(button["value"]), "U0ANA")
    for _ in range(2):
        overview.BUTTONS["gpu.digest.post"](press, scene.desk)
    scene.world.settle()
    asked = [key for key in scene.world.messenger.said if key.startswith("digest:asked:")]
    assert len(asked) == 1
    assert scene.world.messenger.said[asked[0]].to.channel


def test_places_with_one_price_stand_together(scene) -> None:
    scene.looks.market = market_of(
        *(hourly(Kind.ON_DEMAND, f"od-{n}", "55.04", region=f"eu-{n}") for n in range(5)),
        hourly(Kind.ON_DEMAND, "od-9", "60", region="us-9"),
    )
    said = scene.say("market p5.48xlarge")
    assert "$55.04 an hour in eu-0, eu-1, eu-2 and 2 more; $60.00 an hour in us-9" in said
