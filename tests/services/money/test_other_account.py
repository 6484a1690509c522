"""Before an approval: how the team's account gets at what another buys, and if it could be used."""

import pytest

from bot.domain.market import Kind, Market
from bot.domain.sharing import Hindrance, Way
from bot.policy.configuration import Account, Team
from bot.services.verifying import Verifying
from bot.services.words.views import Views, option_key
from tests.fakes.clock import NOW
from tests.services.money.stage import REQ, World, asap, block, configuration, rate

ORGANIZATION = "o-a1b2c3d4e5"
ACCOUNTS = (
    Account(
        name="research",
        account_id="111122223333",
        regions=("us-east-1",),
        organization=ORGANIZATION,
        shares_with=("vision-prod",),
    ),
    Account(
        name="vision-prod",
        account_id="444455556666",
        regions=("us-west-2",),
        organization=ORGANIZATION,
    ),
)
VISION = Team(name="vision", members=(REQ,), account="vision-prod")


def world_with(*rows, hourly=()):
    return World(
        configuration=configuration(accounts=ACCOUNTS, teams=(VISION,)),
        market=Market(as_of=NOW, offerings=rows, hourly=hourly),
    )


def views(world) -> Views:
    return Views(
        store=world.store,
        clock=world.clock,
        verifying=Verifying(people=world.people),
        configuration=world.configuration,
    )


def passages(world, reservation_id):
    """What the living card holds, by option."""
    view = views(world).card(reservation_id)
    assert view.decision is not None
    return {option.refs: view.elsewhere.get(option_key(option)) for option in view.decision.options}


def test_the_card_knows_how_each_option_is_used_and_in_which_zone() -> None:
    world = world_with(block())
    (passage,) = passages(world, world.quoted().id).values()
    assert passage is not None
    assert (passage.way, passage.user, passage.zone_id) == (Way.SHARED, "vision-prod", "use1-az4")


def test_the_approvers_card_knows_it_too() -> None:
    world = world_with(block())
    proposal = world.proposed()
    view = views(world).proposal(proposal.id)
    assert view.elsewhere[option_key(proposal.option)].way is Way.SHARED


def test_an_ultraserver_stays_where_it_is_bought() -> None:
    world = world_with(block(ultraserver_type="u-p6e-gb200x72", ultraserver_count=1))
    (passage,) = passages(world, world.quoted().id).values()
    assert passage is not None
    assert (passage.way, passage.hindrance) == (Way.STAYS, Hindrance.ULTRASERVER)


def test_machines_that_are_launched_stay_where_they_are_launched() -> None:
    world = world_with(hourly=(rate(),))
    (passage,) = passages(world, world.quoted(asap()).id).values()
    assert passage is not None
    assert (passage.way, passage.hindrance) == (Way.STAYS, Hindrance.LAUNCHED)


def test_a_team_that_names_no_account_hears_nothing_of_it() -> None:
    world = World()
    assert views(world).card(world.quoted().id).elsewhere == {}


@pytest.mark.parametrize(
    ("shares_with", "used_in"), [(("vision-prod",), "vision-prod"), ((), None)]
)
def test_what_will_be_shared_is_rehearsed_where_it_will_be_launched(shares_with, used_in) -> None:
    world = world_with(block())
    payer = ACCOUNTS[0].model_copy(update={"shares_with": shares_with})
    world.configuration = configuration(accounts=(payer, ACCOUNTS[1]), teams=(VISION,))
    world.restart()
    world.proposed()
    assert world.aws.rehearsed == [("research", used_in)]


def test_sharing_takes_no_money_of_its_own() -> None:
    world = world_with(block())
    proposal = world.bought()
    spent = world.money("held", "committed")
    for sale in world.aws.sold:
        world.aws.show(sale.receipt.id, state="scheduled")
    world.run(world.configuration.limits.retry_for)
    assert world.money("held", "committed") == spent == proposal.ceiling
    assert len(world.purchases(proposal.reservation_id)) == len(world.aws.calls) == 1
    assert Kind.CAPACITY_BLOCK in {sale.receipt.kind for sale in world.aws.sold}
