"""Endpoints on a plan, against the simulated SageMaker with real boto3."""

from datetime import datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from bot.aws import AwsEndpoints
from bot.domain.errors import NotAllowedError, UserError
from bot.domain.lifecycle import ReservationState
from bot.domain.market import Kind
from bot.domain.records import Due
from bot.domain.request import Target
from bot.domain.using import EndpointStage
from bot.services.running.endpoint_stages import record_of
from tests.fakes.aws import CrashError
from tests.fakes.clock import FakeClock

PLAN = Kind.TRAINING_PLAN


def model(world, name: str = "llama") -> str:
    world.client("sagemaker").create_model(
        ModelName=name,
        PrimaryContainer={"Image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/serve:1"},
        ExecutionRoleArn="arn:aws:iam::111122223333:role/serve",
    )
    return name


def stage(world, number: int) -> EndpointStage:
    with world.store.reading() as tx:
        record = record_of(tx, number)
    assert record is not None
    return record.stage


def name_of(world, number: int) -> str:
    with world.store.reading() as tx:
        record = record_of(tx, number)
    assert record is not None
    return record.order.name


def test_an_endpoint_runs_on_the_plan_and_shows_what_it_uses(world) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    world.uses.endpoints.create(number, model=model(world), count=1, by="U0ANA")
    world.run(timedelta(minutes=10))
    assert stage(world, number) is EndpointStage.IN_SERVICE
    shown = world.client("sagemaker").describe_endpoint(EndpointName=name_of(world, number))
    (variant,) = shown["ProductionVariants"]
    held = variant["CapacityReservationConfig"]
    assert held["MlReservationArn"] == world.receipt(number).id
    assert held["CapacityReservationPreference"] == "capacity-reservations-only"
    (ready,) = world.said("is in service")
    assert "It uses 1 of the plan's 2 machines." in world.note(
        next(key for key, one in world.messenger.said.items() if one is ready)
    )
    assert world.calls("CreateEndpointConfig") == world.calls("CreateEndpoint") == 1


def test_nothing_is_sent_before_the_plan_is_active(world) -> None:
    number = world.buy(PLAN, Target.ENDPOINT)
    world.run(timedelta(hours=1))
    world.uses.endpoints.create(number, model=model(world), count=1, by="U0ANA")
    start = world.receipt(number).segments[0].start
    world.run_until(start - timedelta(minutes=1))
    assert stage(world, number) is EndpointStage.WAITING
    assert world.calls("CreateEndpointConfig") == 0
    looks = world.calls("DescribeTrainingPlan")
    world.run_until(start + timedelta(minutes=15))
    assert stage(world, number) is EndpointStage.IN_SERVICE
    assert looks < 60, "it waits for the start and does not ask every minute for days"


def test_a_plan_for_something_else_takes_no_endpoint(world) -> None:
    number = world.begun(PLAN, Target.TRAINING_JOB)
    with pytest.raises(UserError, match="no training plan for endpoints"):
        world.uses.endpoints.create(number, model=model(world), count=1, by="U0ANA")


def test_a_missing_model_fails_with_sagemakers_own_reason(world) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    world.uses.endpoints.create(number, model="nobody", count=1, by="U0ANA")
    world.run(timedelta(minutes=2))
    assert stage(world, number) is EndpointStage.FAILED
    (failed,) = world.said("Could not find model nobody")
    assert [press.action for press in failed.presses] == ["gpu.endpoint.delete"]
    assert world.calls("CreateEndpoint") == 0


def test_an_endpoint_that_does_not_come_up_says_why(world) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    made = model(world)
    client = world.client("sagemaker")
    variant = {
        "VariantName": "one",
        "ModelName": made,
        "InitialInstanceCount": 2,
        "InstanceType": "ml.p5.48xlarge",
        "CapacityReservationConfig": {
            "MlReservationArn": world.receipt(number).id,
            "CapacityReservationPreference": "capacity-reservations-only",
        },
    }
    client.create_endpoint_config(EndpointConfigName="theirs", ProductionVariants=[variant])
    client.create_endpoint(EndpointName="theirs", EndpointConfigName="theirs")
    world.run(timedelta(minutes=10))
    world.uses.endpoints.create(number, model=made, count=1, by="U0ANA")
    world.run(timedelta(minutes=10))
    assert stage(world, number) is EndpointStage.FAILED
    assert world.said("InsufficientInstanceCapacity")


@pytest.mark.parametrize("operation", ["CreateEndpointConfig", "CreateEndpoint"])
def test_a_lost_answer_is_looked_up_and_not_sent_again(world, operation) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    world.aws.add_fault({"operation": operation, "fault": "lost-answer"})
    world.uses.endpoints.create(number, model=model(world), count=1, by="U0ANA")
    world.run(timedelta(minutes=15))
    assert stage(world, number) is EndpointStage.IN_SERVICE
    assert world.calls(operation) == 1


def test_a_restart_after_any_stage_goes_on_where_it_was(world) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    world.uses.endpoints.create(number, model=model(world), count=1, by="U0ANA")
    for _ in range(8):
        world.start()
        world.aws.settle()
        world.duties.step(limit=1)
    world.start()
    world.run(timedelta(minutes=15))
    assert stage(world, number) is EndpointStage.IN_SERVICE
    assert world.calls("CreateEndpointConfig") == world.calls("CreateEndpoint") == 1


def test_delete_takes_the_endpoint_first_and_then_its_configuration(world) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    world.uses.endpoints.create(number, model=model(world), count=1, by="U0ANA")
    world.run(timedelta(minutes=10))
    name = name_of(world, number)
    world.uses.endpoints.delete(number, by="U0ANA")
    world.settle()
    assert world.calls("DeleteEndpointConfig") == 0
    world.run(timedelta(minutes=10))
    assert stage(world, number) is EndpointStage.GONE
    client = world.client("sagemaker")
    for call, key in (
        (client.describe_endpoint, "EndpointName"),
        (client.describe_endpoint_config, "EndpointConfigName"),
    ):
        with pytest.raises(ClientError, match="Could not find"):
            call(**{key: name})
    assert world.calls("DeleteEndpoint") == world.calls("DeleteEndpointConfig") == 1


def test_after_a_deletion_another_one_can_be_made(world) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    made = model(world)
    for _ in range(2):
        world.uses.endpoints.create(number, model=made, count=1, by="U0ANA")
        world.run(timedelta(minutes=10))
        assert stage(world, number) is EndpointStage.IN_SERVICE
        world.uses.endpoints.delete(number, by="U0ANA")
        world.run(timedelta(minutes=10))
    assert stage(world, number) is EndpointStage.GONE


def test_before_the_plans_end_it_warns_and_at_the_end_it_deletes(world) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    world.uses.endpoints.create(number, model=model(world), count=1, by="U0ANA")
    end = world.receipt(number).segments[0].end - timedelta(minutes=30)
    world.run_until(end - timedelta(hours=1, minutes=1))
    assert not world.said("every call to it fails")
    world.run_until(end - timedelta(minutes=50))
    assert len(world.said("every call to it fails")) == 1
    assert stage(world, number) is EndpointStage.IN_SERVICE
    world.run_until(end + timedelta(minutes=10))
    assert stage(world, number) is EndpointStage.GONE


def test_only_its_people_may_make_or_delete_it(world) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    with pytest.raises(NotAllowedError):
        world.uses.endpoints.create(number, model="llama", count=1, by="U0LIN")
    world.people.inactive.add("U0ANA")
    with pytest.raises(NotAllowedError):
        world.uses.endpoints.create(number, model="llama", count=1, by="U0ANA")
    with pytest.raises(NotAllowedError):
        world.uses.endpoints.delete(number, by="U0LIN")


def test_a_reservation_has_one_endpoint_at_a_time(world) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    world.uses.endpoints.create(number, model=model(world), count=1, by="U0ANA")
    with pytest.raises(UserError, match="already"):
        world.uses.endpoints.create(number, model="other", count=1, by="U0ANA")
    with pytest.raises(UserError, match="1 to 2"):
        other = world.begun(PLAN, Target.ENDPOINT)
        world.uses.endpoints.create(other, model="llama", count=3, by="U0ANA")


def test_without_an_id_the_only_plan_is_meant_and_a_model_names_its_endpoint(world) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    world.uses.endpoints.create(None, model=model(world), count=1, by="U0ANA")
    assert stage(world, number) is EndpointStage.WAITING
    with pytest.raises(UserError, match="no such endpoint"):
        world.uses.endpoints.delete(None, by="U0ANA", named="mistral")
    world.uses.endpoints.delete(None, by="U0ANA", named="llama")
    assert stage(world, number) is EndpointStage.DELETING


def test_status_asks_sagemaker(world) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    world.uses.endpoints.create(number, model=model(world), count=2, by="U0ANA")
    world.run(timedelta(minutes=10))
    (shown,) = world.uses.endpoints.status(number, by="U0LIN")
    assert ("SageMaker says InService.",) in shown.sentences
    assert ("It uses 2 of the plan's 2 machines.",) in shown.sentences


class Late(AwsEndpoints):
    """SageMaker whose books show a new thing a minute late, and a process that may end."""

    clock: FakeClock
    crash = False

    def __init__(self, world) -> None:
        super().__init__(world.configuration.accounts, clients=world.clients)
        self.clock = world.clock
        self.made: dict[str, datetime] = {}

    def _shown(self, what: str) -> bool:
        made = self.made.get(what)
        return made is None or self.clock.now() - made >= timedelta(minutes=1)

    def configured(self, order) -> bool:
        return super().configured(order) and self._shown("configuration")

    def look(self, order):
        return super().look(order) if self._shown("endpoint") else None

    def configure(self, order) -> None:
        super().configure(order)
        self.made["configuration"] = self.clock.now()
        if self.crash:
            raise CrashError

    def create(self, order) -> None:
        super().create(order)
        self.made["endpoint"] = self.clock.now()
        if self.crash:
            raise CrashError


@pytest.fixture
def late(world) -> Late:
    return Late(world)


def use(world, books: Late) -> None:
    object.__setattr__(world.uses.endpoints.stages, "endpoints", books)


def test_books_that_show_it_late_bring_no_second_request(world, late) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    use(world, late)
    world.uses.endpoints.create(number, model=model(world), count=1, by="U0ANA")
    world.run(timedelta(minutes=20))
    assert stage(world, number) is EndpointStage.IN_SERVICE
    assert world.calls("CreateEndpointConfig") == world.calls("CreateEndpoint") == 1


def test_a_process_that_ends_during_a_create_has_written_it_down(world, late) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    late.crash = True
    use(world, late)
    world.uses.endpoints.create(number, model=model(world), count=1, by="U0ANA")
    for _ in range(2):
        with pytest.raises(CrashError):
            world.run(timedelta(minutes=30))
        world.start()
        use(world, late)
        with world.store.transaction() as tx:
            tx.dues.plan(
                Due(
                    key=f"endpoint:again:{world.clock.now()}",
                    kind="endpoint",
                    subject=f"gpu-{number}",
                    at=world.clock.now(),
                    argument=str(number),
                )
            )
        world.settle()
    assert world.calls("CreateEndpointConfig") == world.calls("CreateEndpoint") == 1


def test_what_has_ended_is_not_offered_a_new_endpoint(world) -> None:
    number = world.begun(PLAN, Target.ENDPOINT)
    with pytest.raises(UserError) as running:
        world.uses.endpoints.status(number, by="U0ANA")
    assert running.value.hint == f"endpoint create gpu-{number} your-model-name"
    with world.store.transaction() as tx:
        held = tx.reservations.get(number)
        tx.reservations.save(held.model_copy(update={"state": ReservationState.ENDED}))
    with pytest.raises(UserError, match="is ended and has no endpoint") as over:
        world.uses.endpoints.status(number, by="U0ANA")
    assert over.value.hint == f"status gpu-{number}"
