"""Clean-up: only what may be removed is, and gone is said when AWS shows it gone."""

from datetime import timedelta

import pytest

from bot.aws import AwsLeftovers
from bot.domain.cleanup import CleanUp, ItemStage, Maker
from bot.domain.errors import NotAllowedError, RefusedError, UserError
from bot.domain.market import Kind, NotRead
from bot.domain.request import Target
from bot.domain.using import Found, LeftoverKind
from bot.services.endings.cleanup_records import record_of_cleanup
from bot.services.endings.cleanup_words import sections
from tests.fakes.clock import NOW
from tests.services.use.test_use_endpoints import model

BLOCK = Kind.CAPACITY_BLOCK


def record(world, number: int):
    with world.store.reading() as tx:
        found = record_of_cleanup(tx, number)
    assert found is not None
    return found


def only(world, number: int):
    (item,) = record(world, number).open
    return item


def note(world, number: int) -> str:
    world.settle()
    return world.note(f"note:gpu-{number}:cleanup")


def presses(world, number: int) -> list[tuple[str, str]]:
    world.settle()
    said = world.messenger.said[f"note:gpu-{number}:cleanup"]
    return [(press.action, press.argument) for press in said.presses]


def started_with_kit(world, number: int, *, tagged: bool = True) -> str:
    """A machine that somebody put into the reservation."""
    receipt = world.receipt(number)
    tags = [
        {"Key": "gpubot:purchase", "Value": receipt.purchase_id},
        {"Key": "gpubot:reservation", "Value": f"gpu-{number}"},
    ]
    more = {"InstanceMarketOptions": {"MarketType": "capacity-block"}}
    answer = world.client("ec2").run_instances(
        LaunchTemplate={"LaunchTemplateId": "lt-0a11ce0000000001"},
        InstanceType=receipt.instance_type,
        MinCount=1,
        MaxCount=1,
        CapacityReservationSpecification={
            "CapacityReservationTarget": {"CapacityReservationId": receipt.id}
        },
        TagSpecifications=[{"ResourceType": "instance", "Tags": tags}] if tagged else [],
        **(more if receipt.kind is BLOCK else {}),
    )
    return answer["Instances"][0]["InstanceId"]


def state(world, machine: str) -> str:
    answer = world.client("ec2").describe_instances(InstanceIds=[machine])
    return answer["Reservations"][0]["Instances"][0]["State"]["Name"]


def test_what_the_bot_reserved_by_the_hour_is_cancelled_and_looked_after_until_gone(world) -> None:
    number = world.begun(Kind.ODCR)
    world.uses.cleaning.look(number, by="U0ANA")
    item = only(world, number)
    assert (item.maker, item.leftover.kind) == (Maker.BOT, LeftoverKind.RESERVATION)
    assert f"${item.leftover.usd_per_day:.2f} a day" in note(world, number)
    world.uses.cleaning.remove(number, item.leftover.key, by="U0ANA")
    assert "being removed" in note(world, number) or record(world, number).proved
    world.run(timedelta(minutes=5))
    assert record(world, number).proved
    assert "AWS shows nothing left" in note(world, number)
    shown = world.client("ec2").describe_capacity_reservations(
        CapacityReservationIds=[item.leftover.id]
    )
    assert shown["CapacityReservations"][0]["State"] == "cancelled"
    kept = dict(world.audit(number))
    assert kept["leftover.gone"]["id"] == item.leftover.id
    assert kept["leftover.gone"]["asked_by"] == "U0ANA"
    assert "leftover.none" in kept


def test_machines_by_the_hour_are_all_removed_on_one_word(world) -> None:
    number = world.begun(Kind.ON_DEMAND)
    world.uses.cleaning.look(number, by="U0ANA")
    assert len(record(world, number).open) == 2
    assert ("gpu.clean.all", str(number)) in presses(world, number)
    world.uses.cleaning.remove_all(number, by="U0ANA")
    world.run(timedelta(minutes=5))
    assert record(world, number).proved
    assert world.calls("TerminateInstances") >= 2


def test_gone_is_not_said_while_a_machine_is_shutting_down(world) -> None:
    number = world.begun(Kind.ON_DEMAND)
    world.uses.cleaning.look(number, by="U0ANA")
    world.uses.cleaning.remove_all(number, by="U0ANA")
    world.settle()
    assert [item.leftover.state for item in record(world, number).open] == ["shutting-down"] * 2
    assert "nothing left" not in note(world, number)


def test_what_people_started_needs_an_approver_who_is_somebody_else(world) -> None:
    number = world.begun(BLOCK)
    machine = started_with_kit(world, number)
    world.run(timedelta(minutes=2))
    world.uses.cleaning.look(number, by="U0ANA")
    item = only(world, number)
    assert item.maker is Maker.KIT
    world.uses.cleaning.remove(number, item.leftover.key, by="U0ANA")
    world.run(timedelta(minutes=5))
    assert state(world, machine) == "running"
    (question,) = world.said("somebody else must agree")
    assert question.to.channel == world.configuration.channels.approvals
    for nobody in ("U0ANA", "U0LIN"):
        with pytest.raises(NotAllowedError):
            world.uses.cleaning.agree(number, item.leftover.key, by=nobody)
    world.uses.cleaning.agree(number, item.leftover.key, by="U0BRUNO")
    world.run(timedelta(minutes=5))
    assert state(world, machine) == "terminated"
    assert dict(world.audit(number))["leftover.gone"]["agreed_by"] == "U0BRUNO"


def test_all_never_covers_what_people_started(world) -> None:
    number = world.begun(BLOCK)
    machine = started_with_kit(world, number)
    world.run(timedelta(minutes=2))
    world.uses.cleaning.look(number, by="U0ANA")
    with pytest.raises(UserError, match="I made nothing"):
        world.uses.cleaning.remove_all(number, by="U0ANA")
    assert state(world, machine) == "running"


def test_what_carries_no_tag_is_reported_and_never_touched(world) -> None:
    number = world.begun(BLOCK)
    machine = started_with_kit(world, number, tagged=False)
    world.run(timedelta(minutes=2))
    world.uses.cleaning.look(number, by="U0ANA")
    item = only(world, number)
    assert item.maker is Maker.UNKNOWN
    assert "only report it" in note(world, number)
    assert [action for action, _ in presses(world, number)] == ["gpu.cleanup"]
    with pytest.raises(UserError, match="no tag of mine"):
        world.uses.cleaning.remove(number, item.leftover.key, by="U0DIEGO")
    assert state(world, machine) == "running"


def test_a_machine_in_a_block_costs_nothing_beyond_what_is_paid(world) -> None:
    number = world.begun(BLOCK)
    started_with_kit(world, number)
    world.uses.cleaning.look(number, by="U0ANA")
    assert "nothing beyond what is paid" in note(world, number)


def test_a_volume_that_stayed_behind_is_found_by_its_tag(world) -> None:
    number = world.begun(BLOCK)
    tags = [{"Key": "gpubot:purchase", "Value": world.receipt(number).purchase_id}]
    made = world.client("ec2").create_volume(
        AvailabilityZone="us-east-1a",
        Size=500,
        TagSpecifications=[{"ResourceType": "volume", "Tags": tags}],
    )
    world.uses.cleaning.look(number, by="U0ANA")
    item = only(world, number)
    assert (item.leftover.kind, item.leftover.id) == (LeftoverKind.VOLUME, made["VolumeId"])
    assert "cost unknown" in note(world, number)
    world.uses.cleaning.remove(number, item.leftover.key, by="U0ANA")
    world.uses.cleaning.agree(number, item.leftover.key, by="U0CARLA")
    world.run(timedelta(minutes=5))
    assert record(world, number).proved


def test_at_the_end_it_is_looked_up_by_itself_and_the_proof_is_kept(world) -> None:
    number = world.begun(BLOCK)
    started_with_kit(world, number)
    world.run_until(world.receipt(number).segments[0].end + timedelta(hours=1))
    assert "AWS shows nothing left" in note(world, number)
    assert "leftover.none" in dict(world.audit(number))


def test_the_bots_own_endpoint_goes_with_its_configuration(world) -> None:
    number = world.begun(Kind.TRAINING_PLAN, Target.ENDPOINT)
    world.uses.endpoints.create(number, model=model(world), count=1, by="U0ANA")
    world.run(timedelta(minutes=10))
    world.uses.cleaning.look(number, by="U0ANA")
    kinds = {item.leftover.kind: item.maker for item in record(world, number).open}
    assert kinds == {LeftoverKind.ENDPOINT: Maker.BOT, LeftoverKind.CONFIGURATION: Maker.BOT}
    world.uses.cleaning.remove_all(number, by="U0ANA")
    world.run(timedelta(minutes=15))
    assert record(world, number).proved
    assert world.calls("DeleteEndpoint") == world.calls("DeleteEndpointConfig") == 1


def test_somebody_elses_endpoint_on_the_plan_is_only_reported(world) -> None:
    number = world.begun(Kind.TRAINING_PLAN, Target.ENDPOINT)
    client = world.client("sagemaker")
    variant = {
        "VariantName": "one",
        "ModelName": model(world),
        "InitialInstanceCount": 1,
        "InstanceType": "ml.p5.48xlarge",
        "CapacityReservationConfig": {
            "MlReservationArn": world.receipt(number).id,
            "CapacityReservationPreference": "capacity-reservations-only",
        },
    }
    client.create_endpoint_config(EndpointConfigName="theirs", ProductionVariants=[variant])
    client.create_endpoint(EndpointName="theirs", EndpointConfigName="theirs")
    world.uses.cleaning.look(number, by="U0ANA")
    assert only(world, number).maker is Maker.UNKNOWN


def test_strangers_may_neither_look_nor_remove(world) -> None:
    number = world.begun(Kind.ODCR)
    world.uses.cleaning.look(number, by="U0ANA")
    key = only(world, number).leftover.key
    for call in (
        lambda: world.uses.cleaning.look(number, by="U0LIN"),
        lambda: world.uses.cleaning.remove(number, key, by="U0LIN"),
        lambda: world.uses.cleaning.remove_all(number, by="U0LIN"),
    ):
        with pytest.raises(NotAllowedError):
            call()
    world.people.external.add("U0ANA")
    with pytest.raises(NotAllowedError):
        world.uses.cleaning.remove(number, key, by="U0ANA")


class Stubborn(AwsLeftovers):
    """AWS that will not remove, or will not show a book."""

    blind = False
    stubborn = True

    def find(self, receipts) -> Found:
        found = super().find(receipts)
        missing = NotRead(account="research", region="us-east-1", market="volumes", why="throttled")
        return found.model_copy(update={"not_read": (missing,)}) if self.blind else found

    def remove(self, leftover) -> None:
        if self.stubborn:
            raise RefusedError("OperationNotPermitted", "it is locked")
        super().remove(leftover)


@pytest.fixture
def stubborn(world) -> Stubborn:
    books = Stubborn(world.configuration.accounts, clock=world.clock, clients=world.clients)
    object.__setattr__(world.uses.cleaning, "leftovers", books)
    return books


def test_a_book_that_can_not_be_read_proves_nothing_and_is_read_again(world, stubborn) -> None:
    number = world.begun(BLOCK)
    stubborn.blind = True
    world.uses.cleaning.look(number, by="U0ANA")
    said = note(world, number)
    assert "could not look at the volumes in us-east-1, account research" in said
    assert "AWS asked me to slow down." in said
    assert "Press Look again, or look in the AWS console" in said
    assert not record(world, number).proved
    stubborn.blind = False
    world.run(timedelta(minutes=30))
    assert record(world, number).proved


def test_what_vanishes_behind_an_unread_book_is_not_called_gone(world, stubborn) -> None:
    number = world.begun(Kind.ODCR)
    stubborn.stubborn = False
    world.uses.cleaning.look(number, by="U0ANA")
    stubborn.blind = True
    world.uses.cleaning.remove_all(number, by="U0ANA")
    world.run(timedelta(minutes=3))
    assert [item.stage for item in record(world, number).items] == [ItemStage.REMOVING]


def test_a_refused_removal_is_said_and_tried_again(world, stubborn) -> None:
    number = world.begun(Kind.ODCR)
    world.uses.cleaning.look(number, by="U0ANA")
    world.uses.cleaning.remove_all(number, by="U0ANA")
    world.run(timedelta(minutes=1))
    assert "it is locked" in note(world, number)
    stubborn.stubborn = False
    world.run(timedelta(minutes=5))
    assert record(world, number).proved


def test_a_restart_in_the_middle_goes_on(world) -> None:
    number = world.begun(Kind.ODCR)
    world.uses.cleaning.look(number, by="U0ANA")
    world.uses.cleaning.remove(number, only(world, number).leftover.key, by="U0ANA")
    world.start()
    world.run(timedelta(minutes=5))
    assert record(world, number).proved


@pytest.mark.parametrize(
    ("why", "detail", "said"),
    [
        ("unknown", "InternalError: try later", "AWS gave no usable answer (InternalError)."),
        ("unknown", "what is this", "AWS gave no usable answer."),
        ("unreachable", None, "AWS did not answer."),
        ("refused", "UnauthorizedOperation", "not permitted"),
    ],
)
def test_what_could_not_be_looked_at_is_said_with_why(why, detail, said) -> None:
    missing = NotRead(
        account="research", region="us-east-1", market="fleets", why=why, detail=detail
    )
    unseen = CleanUp(reservation_id=1, items=(), not_read=(missing,), seen_at=NOW)
    [part] = sections(unseen)
    words = "".join(str(phrase) for sentence in part.sentences for phrase in sentence)
    assert "could not look at the fleets in us-east-1, account research" in words
    assert said in words
    assert "(unknown)" not in words
