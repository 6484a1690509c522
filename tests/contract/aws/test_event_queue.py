"""The EventQueue port: the adapter against the simulated SQS, and the fake."""

from datetime import timedelta

import boto3
import pytest

from bot.aws import AwsEventQueue, Clients, event_queues
from bot.domain.errors import MarketError
from sandbox.aws import SimulatedAws, Supply
from tests.fakes.aws import FakeEventQueue
from tests.fakes.clock import FakeClock
from tests.unit.aws.canned import RESEARCH, CannedClients, said

URL = "https://sqs.us-east-1.amazonaws.com/111122223333/gpubot-events"
OWNER = "111122223333"


class Simulated:
    """The adapter on a queue of the simulated AWS."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = FakeClock()
        queue = {"account": OWNER, "region": "us-east-1", "max_receives": 99}
        supply = Supply.from_dict({"event_queues": [queue]})
        self.aws = SimulatedAws(now=self.clock.now, seed=1, supply=supply)
        monkeypatch.setenv("AWS_ENDPOINT_URL", self.aws.start())
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A" * 20)
        monkeypatch.setattr("bot.aws.events._WAIT_SECONDS", 0)
        monkeypatch.setattr("sandbox.aws.wire.get_account_id_from", lambda _key: OWNER)
        self.clients = Clients((RESEARCH,))
        self.sender = boto3.client("sqs", region_name="us-east-1")
        self.port = AwsEventQueue(URL, account="research", region="us-east-1", clients=self.clients)

    def put(self, body: str) -> None:
        self.sender.send_message(QueueUrl=URL, MessageBody=body)

    def wait(self) -> None:
        self.clock.advance(timedelta(minutes=1))

    def break_down(self) -> None:
        self.aws.add_fault({"operation": "ReceiveMessage", "fault": "error:QueueDoesNotExist"})

    def close(self) -> None:
        self.sender.close()
        for client in self.clients._clients.values():  # noqa: SLF001 - leaves no socket open
            client.close()
        self.aws.stop()
        assert self.aws.failures == []


class Faked:
    """The fake."""

    def __init__(self) -> None:
        self.port = FakeEventQueue()

    def put(self, body: str) -> None:
        self.port.put(body)

    def wait(self) -> None:
        """Its messages are visible again at once."""

    def break_down(self) -> None:
        self.port.unreadable = True

    def close(self) -> None:
        """Holds nothing open."""


@pytest.fixture(params=["simulated", "faked"])
def place(request, monkeypatch):
    made = Simulated(monkeypatch) if request.param == "simulated" else Faked()
    yield made
    made.close()


def test_what_waits_is_given_with_its_place(place):
    place.put("a")
    (event,) = place.port.receive()
    assert (event.body, event.account, event.region) == ("a", "research", "us-east-1")
    assert event.receives == 1


def test_what_is_not_deleted_comes_again_and_counts(place):
    place.put("a")
    place.port.receive()
    place.wait()
    (event,) = place.port.receive()
    assert event.receives == 2


def test_what_is_deleted_does_not_come_again(place):
    place.put("a")
    (event,) = place.port.receive()
    place.port.delete(event)
    place.port.delete(event)
    place.wait()
    assert list(place.port.receive()) == []


def test_at_most_ten_are_given_at_once(place):
    for number in range(12):
        place.put(str(number))
    assert len(place.port.receive()) == 10


def test_a_queue_that_cannot_be_read_says_so(place):
    place.break_down()
    with pytest.raises(MarketError):
        place.port.receive()


def test_it_is_a_long_poll_for_several_messages_with_the_count_of_receives():
    canned = CannedClients()
    queue = AwsEventQueue(URL, account="research", region="us-east-1", clients=canned)
    assert list(queue.receive()) == []
    (sent,) = canned.asked("receive_message")
    assert sent["WaitTimeSeconds"] == 10
    assert sent["MaxNumberOfMessages"] == 10
    assert sent["MessageSystemAttributeNames"] == ["ApproximateReceiveCount"]


def test_a_message_that_lacks_members_is_no_reason_to_stop():
    messages = {"Messages": [{"Body": "x"}, {"ReceiptHandle": "h"}]}
    canned = CannedClients(receive_message=messages)
    queue = AwsEventQueue(URL, account="research", region="us-east-1", clients=canned)
    assert [(one.handle, one.body, one.receives) for one in queue.receive()] == [("h", "", 1)]


def test_a_role_without_the_right_is_said():
    canned = CannedClients(receive_message=said("AccessDenied"))
    queue = AwsEventQueue(URL, account="research", region="us-east-1", clients=canned)
    with pytest.raises(MarketError, match="refused"):
        queue.receive()


def test_each_queue_of_the_file_is_read():
    account = RESEARCH.model_copy(update={"event_queues": {"us-east-1": URL, "us-west-2": URL}})
    assert len(event_queues((account, RESEARCH), clients=CannedClients())) == 2
