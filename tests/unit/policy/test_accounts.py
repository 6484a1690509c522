"""What one account buys gets to another one only where AWS lets it, and the file names both."""

import pytest

from bot.domain.market import Kind
from bot.domain.sharing import Hindrance, Way
from bot.policy.accounts import HINDRANCES, elsewhere
from bot.policy.configuration import Account, Configuration, Team
from bot.policy.explaining import place_words
from bot.settings.config_file import EXAMPLE, parse_configuration

ORGANIZATION = "o-a1b2c3d4e5"


def account(name: str, **update: object) -> Account:
    number = {"payer": "111122223333", "vision-prod": "444455556666"}[name]
    return Account(name=name, account_id=number, regions=("us-east-1",), **update)


def configured(payer: Account, prod: Account, *, uses: str | None = "vision-prod") -> Configuration:
    example, _ = parse_configuration(EXAMPLE)
    assert example is not None
    team = Team(name="vision", members=("U0ANA",), account=uses)
    return example.model_copy(update={"accounts": (payer, prod), "teams": (team,)})


def both(**update: object) -> Configuration:
    payer = account("payer", organization=ORGANIZATION, shares_with=("vision-prod",))
    prod = account("vision-prod", organization=ORGANIZATION)
    return configured(payer.model_copy(update=update), prod)


def way(
    kind: Kind,
    configuration: Configuration,
    *,
    ultraserver: bool = False,
    buyer: str = "payer",
    team: str | None = "vision",
):
    return elsewhere(
        kind, ultraserver=ultraserver, buyer=buyer, team=team, configuration=configuration
    )


@pytest.mark.parametrize("kind", [Kind.CAPACITY_BLOCK, Kind.ODCR])
def test_a_reservation_is_shared_inside_one_organization(kind) -> None:
    found = way(kind, both())
    assert found is not None
    assert (found.way, found.hindrance, found.shareable) == (Way.SHARED, None, True)
    assert (found.buyer, found.user) == ("payer", "vision-prod")


@pytest.mark.parametrize(
    ("kind", "hindrance"),
    [
        (Kind.TRAINING_PLAN, Hindrance.TRAINING_PLAN),
        (Kind.ON_DEMAND, Hindrance.LAUNCHED),
        (Kind.SPOT, Hindrance.LAUNCHED),
        (Kind.OWNED, Hindrance.HELD),
    ],
)
def test_nothing_but_reservations_leaves_the_account_that_buys_it(kind, hindrance) -> None:
    found = way(kind, both())
    assert found is not None
    assert (found.way, found.hindrance, found.shareable) == (Way.STAYS, hindrance, False)


def test_ultraservers_are_never_shared() -> None:
    found = way(Kind.CAPACITY_BLOCK, both(), ultraserver=True)
    assert found is not None
    assert (found.way, found.hindrance) == (Way.STAYS, Hindrance.ULTRASERVER)


def test_an_account_shares_only_with_those_that_the_file_names() -> None:
    found = way(Kind.CAPACITY_BLOCK, both(shares_with=()))
    assert found is not None
    assert (found.way, found.hindrance) == (Way.STAYS, Hindrance.NOT_NAMED)


def test_another_organization_is_out_and_an_unknown_one_is_unsure() -> None:
    other = way(Kind.CAPACITY_BLOCK, both(organization="o-zzzzzzzzzz"))
    unknown = way(Kind.CAPACITY_BLOCK, both(organization=None))
    assert other is not None
    assert unknown is not None
    assert (other.way, other.hindrance) == (Way.STAYS, Hindrance.OTHER_ORGANIZATION)
    assert (unknown.way, unknown.hindrance) == (Way.UNSURE, Hindrance.ORGANIZATION_UNKNOWN)
    assert unknown.shareable


def test_what_is_used_where_it_is_bought_needs_no_word() -> None:
    configuration = both()
    assert way(Kind.CAPACITY_BLOCK, configuration, buyer="vision-prod") is None
    assert way(Kind.CAPACITY_BLOCK, configuration, team=None) is None
    assert way(Kind.CAPACITY_BLOCK, configuration, team="speech") is None
    nobody = configured(*configuration.accounts, uses=None)
    assert way(Kind.CAPACITY_BLOCK, nobody) is None


@pytest.mark.parametrize(
    ("update", "said"),
    [
        ({}, "Bought in payer, shared with vision-prod (AWS RAM) once scheduled."),
        ({"organization": None}, "only inside one AWS Organization, which the file does not say"),
        ({"shares_with": ()}, "can't be used from vision-prod: the administrator's file does not"),
    ],
)
def test_where_it_is_bought_and_used_is_explained_in_a_sentence(update, said) -> None:
    [words] = place_words(way(Kind.CAPACITY_BLOCK, both(**update)))
    assert said in words


def test_every_hindrance_has_its_words() -> None:
    assert set(HINDRANCES) == set(Hindrance) - {Hindrance.ORGANIZATION_UNKNOWN}


def test_what_is_used_where_it_is_bought_needs_no_words() -> None:
    assert place_words(way(Kind.CAPACITY_BLOCK, both(), buyer="vision-prod")) == ()
