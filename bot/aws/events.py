"""Receives the events that a rule of EventBridge sends to an SQS queue."""

from collections.abc import Sequence
from typing import Any, Final

from pydantic import Field

from bot.aws import wire
from bot.aws.calls import read, understood
from bot.aws.clients import Clients
from bot.domain.using import QueuedEvent
from bot.policy.configuration import Account

_WAIT_SECONDS: Final = 10
"""Less than the client's own patience; SQS would allow 20 (SQS API Reference, ReceiveMessage)."""
_MOST: Final = 10


class Attributes(wire.Row):
    """`Attributes` of a message; only the asked one."""

    approximate_receive_count: int = 1


class Message(wire.Row):
    """`Messages[]`."""

    body: str = ""
    receipt_handle: str | None = None
    attributes: Attributes = Field(default_factory=Attributes)


class Messages(wire.Row):
    """Answer of ReceiveMessage."""

    messages: tuple[Message, ...] = ()


class AwsEventQueue:
    """See bot.ports.EventQueue. One queue of one account, read with the account's reading role."""

    def __init__(self, url: str, *, account: str, region: str, clients: Clients) -> None:
        self._url = url
        self._account = account
        self._region = region
        self._clients = clients

    def receive(self) -> Sequence[QueuedEvent]:
        """See bot.ports.EventQueue."""
        answer = read(
            self._client(),
            "receive_message",
            QueueUrl=self._url,
            MaxNumberOfMessages=_MOST,
            WaitTimeSeconds=_WAIT_SECONDS,
            MessageSystemAttributeNames=["ApproximateReceiveCount"],
        )
        return tuple(
            QueuedEvent(
                queue=self._url,
                account=self._account,
                region=self._region,
                body=message.body,
                handle=message.receipt_handle,
                receives=message.attributes.approximate_receive_count,
            )
            for message in understood(Messages, answer).messages
            if message.receipt_handle
        )

    def delete(self, event: QueuedEvent) -> None:
        """See bot.ports.EventQueue."""
        read(self._client(), "delete_message", QueueUrl=self._url, ReceiptHandle=event.handle)

    def _client(self) -> Any:
        return self._clients.reading("sqs", self._account, self._region)


def event_queues(accounts: tuple[Account, ...], *, clients: Clients) -> tuple[AwsEventQueue, ...]:
    """Return the queues that the file names; usually none."""
    return tuple(
        AwsEventQueue(url, account=account.name, region=region, clients=clients)
        for account in accounts
        for region, url in sorted(account.event_queues.items())
    )
