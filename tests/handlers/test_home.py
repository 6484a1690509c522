"""The Home tab: three shelves, every id reachable by paging, within what Slack takes."""

import json
import re

import pytest

from bot.domain.lifecycle import ReservationState
from bot.domain.records import Approval
from bot.services.digests.homes import Homes
from bot.services.verifying import Verifying
from bot.services.words.views import Views
from handlers import ids
from handlers.actions import KNOWN as BUTTONS
from handlers.cards.home import home_view
from handlers.ids import ButtonValue
from handlers.working import LEASE
from tests.fakes.people import FakePeople
from tests.handlers.block_kit import elements, view_faults
from tests.services.after.after_world import world_on
from tests.services.after.extend_world import ExtendWorld
from tests.services.money.stage import APP1, APP2, OTHER, REQ, START

MOST_BLOCKS = 100
TOO_LARGE = 250_000
"""Well below the size at which Slack refuses a view (docs.slack.dev, "views.publish")."""


def homes_of(world, people) -> Homes:
    verifying = Verifying(people=people)
    return Homes(
        store=world.store,
        clock=world.clock,
        views=Views(
            store=world.store,
            clock=world.clock,
            verifying=verifying,
            configuration=world.configuration,
        ),
        verifying=verifying,
        configuration=world.configuration,
    )


def drawn(homes: Homes, user: str) -> dict:
    view = home_view(homes.home(user))
    assert view_faults(view) == []
    assert len(view["blocks"]) <= MOST_BLOCKS
    assert len(json.dumps(view)) < TOO_LARGE
    return view


def shelf(view: dict, title: str) -> str:
    """Return all that stands under a title, as text."""
    parts = []
    inside = False
    for block in view["blocks"]:
        if block["type"] == "header":
            inside = block["text"]["text"].startswith(title)
        elif inside:
            parts.append(json.dumps(block))
    return "\n".join(parts)


def presses(view: dict, action: str) -> list[ButtonValue]:
    return [
        ButtonValue.read(one["value"])
        for block in view["blocks"]
        for one in elements(block)
        if one["action_id"] == action
    ]


@pytest.fixture
def money():
    world = ExtendWorld()
    yield world
    world.store.close()


@pytest.mark.parametrize("count", [80, 800])
def test_every_reservation_is_reached_page_by_page(count) -> None:
    world = world_on("memory://")
    homes = homes_of(world, FakePeople(world.clock))
    for number in range(count):
        reservation = world.bought(START, START.replace(day=20))
        if number % 2:
            with world.store.transaction() as tx:
                fresh = tx.reservations.get(reservation.id)
                tx.reservations.save(
                    fresh.model_copy(update={"owner": "U0LIN", "requester": "U0LIN"})
                )
    found: set[str] = set()
    for _ in range(count):
        view = drawn(homes, "U0ANA")
        listed = set(re.findall(r"\*(gpu-\d+)\*", shelf(view, "Yours")))
        assert not listed & found
        found |= listed
        older = [one for one in presses(view, ids.HOME_OLDER) if one.scope == "mine"]
        if not older:
            break
        homes.turn("U0ANA", "mine", before=older[0].before)
    assert found == {f"gpu-{number}" for number in range(1, count + 1, 2)}
    [newest] = presses(view, ids.HOME_NEWEST)
    homes.turn("U0ANA", str(newest.scope), before=newest.before)
    assert presses(drawn(homes, "U0ANA"), ids.HOME_NEWEST) == []
    world.store.close()


def test_the_team_shelf_holds_what_colleagues_have_and_not_ones_own(money) -> None:
    money.people.groups["S0VISION"] = {OTHER}
    money.bought()
    view = drawn(homes_of(money, money.people), OTHER)
    assert "gpu-1" in shelf(view, "Your team's: vision")
    assert "You have nothing open" in shelf(view, "Yours")
    assert "gpu-1" not in shelf(drawn(homes_of(money, money.people), REQ), "Your team's")


def test_what_waits_for_me_stands_there_with_the_buttons_that_decide(money) -> None:
    proposal = money.proposed()
    view = drawn(homes_of(money, money.people), APP1)
    assert "$6,877.44" in shelf(view, "Waits for your approval")
    for action in (ids.APPROVE, ids.DENY, ids.ASK):
        assert [one.proposal for one in presses(view, action)] == [proposal.id]


def test_nobody_is_shown_what_they_may_not_decide(money) -> None:
    money.proposed()
    homes = homes_of(money, money.people)
    for user in (REQ, OTHER):
        assert presses(drawn(homes, user), ids.APPROVE) == []
    money.people.inactive.add(APP1)
    assert presses(drawn(homes, APP1), ids.APPROVE) == []


def test_what_i_have_agreed_to_waits_for_me_no_longer(money) -> None:
    proposal = money.proposed()
    with money.store.transaction() as tx:
        tx.proposals.give(
            Approval(
                proposal_id=proposal.id,
                approver=APP1,
                verdict="approve",
                at=money.clock.now(),
                fee=proposal.ceiling,
            )
        )
    homes = homes_of(money, money.people)
    assert "Nothing waits" in shelf(drawn(homes, APP1), "Waits for your approval")
    assert presses(drawn(homes, APP2), ids.APPROVE)
    money.approving.approve(proposal.id, by=APP2)
    assert "Nothing waits" in shelf(drawn(homes, APP2), "Waits for your approval")


def test_every_button_of_a_home_tab_works_somewhere(money) -> None:
    money.proposed()
    for user in (REQ, APP1):
        view = drawn(homes_of(money, money.people), user)
        names = {one["action_id"] for block in view["blocks"] for one in elements(block)}
        assert names <= set(BUTTONS)


def test_a_running_block_offers_kit_extension_release_and_health(money) -> None:
    number = money.block_held()
    view = drawn(homes_of(money, money.people), REQ)
    for action in (ids.SHOW, ids.LAUNCH, ids.EXTEND, ids.RELEASE, ids.HEALTH):
        assert [one.reservation for one in presses(view, action)] == [number]
    assert money.state(number) is ReservationState.ACTIVE


def test_a_press_on_the_home_tab_has_it_drawn_anew(office) -> None:
    tab = {"container": {"type": "view", "view_id": "V1"}, "channel": {}}
    office.press(ids.CANCEL, ButtonValue(reservation=42).text(), **tab)
    office.work()
    assert office.services.told == [("cancel", 42, "U0ANA")]
    with office.store.transaction() as tx:
        [waiting] = tx.outbox.claim(now=office.clock.now(), lease=LEASE, limit=5)
    assert waiting.key == "home:U0ANA"
