"""A block bought in one account is shared with the team's own, once, and only while it lasts."""

from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.errors import IndeterminateError, MarketError, RefusedError
from bot.domain.market import Kind
from bot.domain.records import Due
from bot.domain.sharing import ShareStage
from bot.domain.using import Found, Health, Machine
from bot.services.endings.cleaning import Cleaning
from bot.services.reservations.gpu_reading import read_gpus
from bot.services.reservations.sharing import share_of
from bot.services.running.healing import Healing
from tests.fakes.aws import FakeUtilisation
from tests.fakes.bell import FakeBell
from tests.fakes.clock import NOW
from tests.fakes.sharing import OUTSIDE
from tests.services.sharing.share_world import PROD

START, END = NOW + timedelta(hours=10), NOW + timedelta(hours=58)
MINUTE = timedelta(minutes=1)


def buy(world, **more):
    return world.bought(START, END, **{"state": "payment-pending", **more}).id


def name_of(number, consumer="vision-prod"):
    return f"p{number}-cr-{number}-{consumer}"


def becomes(world, number, state, at):
    world.holdings.shown[f"cr-{number}"] = {"state": state}
    world.run_until(at)


def test_nothing_is_shared_before_aws_holds_it(world) -> None:
    number = buy(world)
    world.run_until(NOW + 5 * MINUTE)
    assert world.record(number) is None
    becomes(world, number, "scheduled", NOW + 10 * MINUTE)
    assert world.sharer.made == [name_of(number)]
    record = world.record(number)
    assert record is not None
    assert (record.stage, record.order.consumer) == (ShareStage.STANDING, "vision-prod")


def test_the_requester_is_told_once_from_where_and_in_which_zone_to_launch(world) -> None:
    number = buy(world, state="scheduled")
    world.run_until(END - timedelta(hours=1))
    (said,) = world.saying("is shared")
    assert said.strip().startswith("U0ANA")
    for part in (f"cr-{number}", "vision-prod", "use1-az4", "us-east-1c", "only research can"):
        assert part in said


def test_a_step_that_runs_twice_shares_once_and_speaks_once(world) -> None:
    number = buy(world, state="scheduled")
    world.run_until(NOW + MINUTE)
    argument = f"cr-{number}|{name_of(number)}"
    due = Due(key="again", kind="share", subject="", at=NOW, argument=argument)
    assert world.sharing.share(due) == "nothing to share"
    world.settle()
    assert len(world.sharer.made) == len(world.saying("is shared")) == 1


def test_a_share_whose_answer_was_lost_is_found_not_made_again(world) -> None:
    world.sharer.lose_answer = True
    number = buy(world, state="scheduled")
    world.run_until(NOW + 2 * MINUTE)
    assert world.sharer.made == [name_of(number)]
    assert len(world.saying("is shared")) == 1


@pytest.mark.parametrize(
    "trouble",
    [MarketError("throttled", "ThrottlingException"), IndeterminateError("ReadTimeout", "")],
)
def test_trouble_on_the_way_is_tried_again_in_silence(world, trouble) -> None:
    world.sharer.trouble = [trouble, trouble]
    buy(world, state="scheduled")
    world.run_until(NOW + 5 * MINUTE)
    assert len(world.saying("is shared")) == 1
    assert not world.saying("not shared")


def test_shared_is_said_only_once_aws_shows_it_associated(world) -> None:
    world.sharer.looks = 4
    number = buy(world, state="scheduled")
    world.run_until(NOW + MINUTE)
    assert not world.saying("is shared")
    record = world.record(number)
    assert record is not None
    assert record.stage is ShareStage.WANTED
    world.run_until(NOW + 10 * MINUTE)
    assert len(world.saying("is shared")) == 1


def test_a_refusal_is_told_with_its_mend_to_all_who_can_act_and_mends_itself(world) -> None:
    world.sharer.trouble = [OUTSIDE, OUTSIDE]
    number = buy(world, state="scheduled")
    world.run_until(NOW + MINUTE)
    told = world.saying("is not shared yet")
    assert len(told) == 3
    assert all("enable-sharing-with-aws-organization" in said for said in told)
    places = [
        (one.to.channel, one.to.user)
        for one in world.messenger.said.values()
        if "is not shared yet" in str(one)
    ]
    assert set(places) == {("C0GPU", None), ("C0APPROVE", None), (None, "U0DIEGO")}
    world.run_until(NOW + timedelta(hours=3))
    assert len(world.saying("is not shared yet")) == 3
    assert len(world.saying("is shared")) == 1
    assert world.actions(number) == ["share.refused", "share.refused", "share.stands"]


@pytest.mark.parametrize(
    ("refused", "mend"),
    [
        (RefusedError("OperationNotPermittedException", "limited billing history"), "too new"),
        (RefusedError("AccessDeniedException", "not authorized"), "docs/iam/buy.json"),
        (RefusedError("ResourceShareLimitExceededException", ""), "as many shares"),
        (RefusedError("SomethingElseException", "who knows"), "AWS RAM in research, us-east-1"),
    ],
)
def test_each_refusal_has_its_own_mend(world, refused, mend) -> None:
    world.sharer.trouble = [refused]
    buy(world, state="scheduled")
    world.run_until(NOW + MINUTE)
    assert all(mend in said for said in world.saying("is not shared yet"))
    assert world.saying("is not shared yet")


def test_a_refusal_is_not_tried_beyond_the_end(world) -> None:
    world.sharer.trouble = [OUTSIDE] * 50
    number = buy(world, state="scheduled")
    world.run_until(START)
    becomes(world, number, "active", END - MINUTE)
    becomes(world, number, "expired", END + timedelta(hours=2))
    left = len(world.sharer.trouble)
    assert left > 30
    world.run_until(END + timedelta(days=3))
    assert len(world.sharer.trouble) == left


def test_the_share_ends_with_the_reservation_before_it_is_looked_what_is_left(world) -> None:
    number = buy(world, state="scheduled")
    world.run_until(START)
    becomes(world, number, "active", END - MINUTE)
    assert world.sharer.ended == []
    becomes(world, number, "expired", END + timedelta(hours=1))
    assert world.sharer.ended == [name_of(number)]
    assert world.surveyed == ["no share"]
    assert world.actions(number) == ["share.stands", "share.ended"]


def test_what_vanishes_is_no_longer_shared(world) -> None:
    number = buy(world, state="scheduled")
    world.run_until(NOW + MINUTE)
    world.holdings.lost.add(f"cr-{number}")
    world.run_until(NOW + timedelta(hours=8))
    assert world.sharer.ended == [name_of(number)]


@pytest.mark.parametrize(
    "more",
    [
        {"kind": Kind.TRAINING_PLAN, "instance_type": "ml.p5.48xlarge", "target": "training-job"},
        {"kind": Kind.ON_DEMAND, "state": "active"},
        {"ultraserver_type": "u-p6e-gb200x72"},
    ],
)
def test_what_aws_does_not_share_is_never_tried(world, more) -> None:
    number = buy(world, **{"state": "scheduled", **more})
    world.run_until(NOW + timedelta(hours=1))
    assert world.record(number) is None
    assert world.sharer.made == []


def test_what_the_team_uses_where_it_is_bought_is_not_shared(world) -> None:
    team = world.configuration.teams[0]
    own = team.model_copy(update={"account": "research"})
    world.configuration = world.configuration.model_copy(update={"teams": (own,)})
    world.start()
    buy(world, state="scheduled")
    world.run_until(NOW + timedelta(hours=1))
    assert world.sharer.made == []


def test_a_capacity_reservation_that_is_active_at_once_is_shared_at_once(world) -> None:
    number = world.bought(NOW, END, state="active", kind=Kind.ODCR).id
    world.run_until(NOW + 2 * MINUTE)
    assert world.sharer.made == [name_of(number)]


def test_a_process_that_starts_anew_goes_on_where_the_other_ended(world) -> None:
    world.sharer.looks = 3
    buy(world, state="scheduled")
    world.settle()
    world.start()
    world.run_until(NOW + 10 * MINUTE)
    assert len(world.sharer.made) == len(world.saying("is shared")) == 1


# --- what is left --------------------------------------------------------------------------------


class Attic:
    """Nothing is left; remembers where it was looked. See bot.ports.Leftovers."""

    def __init__(self) -> None:
        self.places: list[tuple[str, str | None]] = []

    def find(self, receipts) -> Found:
        self.places = [(receipt.account, receipt.zone) for receipt in receipts]
        return Found(items=(), not_read=())


def test_what_is_left_is_looked_for_in_both_accounts_even_when_the_share_is_over(world) -> None:
    number = buy(world, state="scheduled")
    attic = Attic()
    cleaning = Cleaning(
        store=world.store,
        clock=world.clock,
        leftovers=attic,
        endpoints=None,
        verifying=None,
        configuration=world.configuration,
        bell=FakeBell(),
    )
    cleaning.look(number, by="U0ANA")
    assert attic.places == [("research", "us-east-1b")]
    world.run_until(START)
    becomes(world, number, "active", END - MINUTE)
    becomes(world, number, "expired", END + timedelta(hours=1))
    cleaning.look(number, by="U0ANA")
    assert attic.places == [("research", "us-east-1b"), ("vision-prod", "us-east-1c")]


# --- another team -------------------------------------------------------------------------------


def moved(world, number, team):
    """Hand it to somebody of that team."""
    with world.store.transaction() as tx:
        reservation = tx.reservations.get(number)
        world.moving.move(
            tx,
            reservation,
            tx.receipts.of(number)[0],
            to="U0LIN",
            team=team,
            zone="Europe/Berlin",
            now=world.clock.now(),
        )
    world.run_until(world.clock.now() + 5 * MINUTE)


def test_what_another_team_takes_over_is_shared_with_its_account_and_no_longer_the_old(
    world,
) -> None:
    number = buy(world, state="scheduled")
    world.run_until(NOW + MINUTE)
    moved(world, number, "speech")
    assert list(world.sharer.shares) == [name_of(number, "speech-prod")]
    assert world.sharer.ended == [name_of(number)]
    assert len(world.saying("can be used from speech-prod")) == 1


def test_a_team_that_uses_the_buying_account_needs_no_share(world) -> None:
    number = buy(world, state="scheduled")
    world.run_until(NOW + MINUTE)
    moved(world, number, "infra")
    assert list(world.sharer.shares) == []
    world.run_until(START)
    assert world.sharer.made == [name_of(number)]


def test_what_comes_back_is_shared_by_a_share_of_its_own(world) -> None:
    number = buy(world, state="scheduled")
    world.run_until(NOW + MINUTE)
    moved(world, number, "infra")
    moved(world, number, "vision")
    assert list(world.sharer.shares) == [f"{name_of(number)}-2"]


def test_a_handover_inside_the_team_changes_no_share(world) -> None:
    number = buy(world, state="scheduled")
    world.run_until(NOW + MINUTE)
    moved(world, number, "vision")
    assert world.sharer.ended == []
    assert world.sharer.made == [name_of(number)]


def test_a_share_that_was_made_while_it_was_given_away_is_ended_all_the_same(world) -> None:
    number = buy(world, state="scheduled")
    share = world.sharer.share

    def given_away_meanwhile(order):
        world.sharer.share = share
        moved(world, number, "infra")
        return share(order)

    world.sharer.share = given_away_meanwhile
    world.run_until(NOW + 10 * MINUTE)
    assert list(world.sharer.shares) == []
    assert not world.saying("is shared")


# --- health --------------------------------------------------------------------------------------


class TwoAccounts:
    """Machines by account; see bot.ports.Machines."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def health(self, receipt) -> Health:
        self.asked.append(receipt.account)
        names = {"research": (), "vision-prod": ("i-1", "i-2")}[receipt.account]
        return Health(
            receipt_id=receipt.id,
            state="active",
            total=2,
            used=len(names),
            free=0,
            machines=tuple(Machine(id=name, state="running") for name in names),
        )


def test_health_counts_what_the_other_account_runs_in_it(world) -> None:
    number = buy(world, state="scheduled")
    machines = TwoAccounts()
    healing = Healing(
        store=world.store,
        clock=world.clock,
        machines=machines,
        telling=world.following.telling,
        configuration=world.configuration,
        bell=FakeBell(),
    )
    healing.health(number)
    assert machines.asked == ["research"]
    world.run_until(START)
    becomes(world, number, "active", START + timedelta(minutes=20))
    (section,) = healing.health(number)
    said = str(section.sentences)
    assert "Of 2 machines: 2 used, 0 free" in said
    assert "i-2" in said


# --- use ------------------------------------------------------------------------------------------

LAZY, HARD = Decimal("0.03"), Decimal("0.9")


@pytest.mark.parametrize(("shares", "told"), [((LAZY, LAZY), True), ((HARD, HARD), False)])
def test_idle_gpus_are_read_where_the_team_runs_its_machines(world, shares, told) -> None:
    world.utilisation = FakeUtilisation(world.clock)
    world.start()
    number = buy(world, state="scheduled")
    world.utilisation.elsewhere[PROD.name] = {f"cr-{number}": shares}
    world.run_until(START)
    counts = {"total_count": 2, "available_count": 0, "unhealthy_count": 0}
    world.holdings.shown[f"cr-{number}"] = {"state": "active", **counts}
    world.run_until(START + timedelta(hours=10))
    assert bool(world.saying("stands idle")) is told


def test_the_machines_of_both_accounts_are_one_use(world) -> None:
    number = buy(world, state="scheduled")
    world.run_until(START)
    becomes(world, number, "active", START + timedelta(minutes=20))
    gpus = FakeUtilisation(world.clock, shares={f"cr-{number}": (HARD,)})
    gpus.elsewhere[PROD.name] = {f"cr-{number}": (LAZY,)}
    with world.store.reading() as tx:
        receipts = tx.receipts.of(number)
        shared = {one.id: share_of(tx, one) for one in receipts}
    read = read_gpus(gpus, receipts, shared, window=timedelta(minutes=30))
    assert read[f"cr-{number}"].shares == (LAZY, HARD)
    assert read[f"cr-{number}"].machines == 2


# --- kits -----------------------------------------------------------------------------------------


def test_the_kit_of_a_shared_block_is_for_the_other_account(world) -> None:
    number = buy(world, state="scheduled")
    world.run_until(START)
    becomes(world, number, "active", START + timedelta(minutes=20))
    (kit,) = [said for said in world.saying("Launch kit") if "Launch with credentials" in said]
    assert "credentials of vision-prod, in use1-az4, which is called us-east-1c there" in kit
    (handout,) = world.kits.launch(number, name="cli")
    listing = handout.sections[0].listing
    assert "subnet-0c0c0c0c0c0c0c0c0" in listing
    assert "lt-0b0b0b0b0b0b0b0b0" in listing
    assert f"cr-{number}" in listing


def test_the_kit_of_what_is_not_shared_yet_says_so_and_is_for_the_buying_account(world) -> None:
    world.sharer.trouble = [OUTSIDE] * 50
    number = buy(world, state="scheduled")
    world.run_until(START)
    becomes(world, number, "active", START + timedelta(minutes=20))
    (handout,) = world.kits.launch(number, name="cli")
    said = str(handout.sections[0].sentences)
    assert "not shared with vision-prod yet; this launches from research" in said
    assert "lt-0b0b" not in handout.sections[0].listing


def test_without_the_zones_name_there_its_id_must_do(world) -> None:
    number = buy(world, state="scheduled")
    world.sharer.zones[f"cr-{number}"] = ("use1-az4", None)
    world.run_until(NOW + 20 * MINUTE)
    (said,) = world.saying("is shared")
    assert "in use1-az4;" in said
    (handout,) = world.kits.launch(number, name="cli")
    assert "your-subnet-in-use1-az4" in handout.sections[0].listing
