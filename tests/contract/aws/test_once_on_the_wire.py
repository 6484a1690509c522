"""Whatever the server does, a call that spends is one request on the wire."""

import socket
import threading
from collections.abc import Iterator

import pytest
from botocore.config import Config

from bot.aws import AwsBuyer, clients
from bot.domain.errors import IndeterminateError
from bot.domain.market import Kind
from bot.domain.records import LegPurpose
from tests.fakes.clock import FakeClock
from tests.unit.aws.canned import RESEARCH, leg_of, purchase_of

ARN = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/x"
XML = b"<PurchaseCapacityBlockResponse><capacityReservation><capacityRes"


def answer(status: str, body: bytes, *, length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    head = f"HTTP/1.1 {status}\r\nContent-Length: {size}\r\nContent-Type: text/xml\r\n\r\n"
    return head.encode() + body


FAULTS = {
    "hang": None,
    "reset": b"",
    "500": answer("500 Internal Server Error", b"<Response><Errors><Error><Code>InternalError"
                  b"</Code></Error></Errors></Response>"),
    "503": answer("503 Service Unavailable", b""),
    "truncated body": answer("200 OK", XML),
    "cut off": answer("200 OK", XML, length=4000),
}  # fmt: skip
PURCHASES = {
    "block": purchase_of(),
    "block extension": purchase_of(
        leg=leg_of(purpose=LegPurpose.EXTENSION, ref="cbe-1", extends="cr-1")
    ),
    "plan": purchase_of(Kind.TRAINING_PLAN),
    "plan extension": purchase_of(
        leg=leg_of(Kind.TRAINING_PLAN, purpose=LegPurpose.EXTENSION, ref="tpeo-1", extends=ARN)
    ),
    "reservation": purchase_of(Kind.ODCR),
    "launch": purchase_of(Kind.ON_DEMAND),
    "spot": purchase_of(Kind.SPOT),
}


class Misbehaving:
    """A server that counts requests and answers every one with the same fault."""

    def __init__(self, fault: bytes | None) -> None:
        self.requests = 0
        self._fault = fault
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._open.append(connection)
            if connection.recv(65536):
                self.requests += 1
            if self._fault is None:
                continue
            connection.sendall(self._fault)
            connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def stop(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()
        for connection in self._open:
            connection.close()


@pytest.fixture(params=FAULTS)
def server(request, monkeypatch) -> Iterator[Misbehaving]:
    misbehaving = Misbehaving(FAULTS[request.param])
    monkeypatch.setenv("AWS_ENDPOINT_URL", misbehaving.url)
    impatient = clients.SPENDING.merge(Config(read_timeout=0.3))
    monkeypatch.setattr(clients, "SPENDING", impatient)
    yield misbehaving
    misbehaving.stop()


@pytest.mark.parametrize("purchase", PURCHASES.values(), ids=PURCHASES)
def test_a_purchase_is_one_request_and_every_fault_is_doubt(server, purchase):
    with pytest.raises(IndeterminateError):
        AwsBuyer((RESEARCH,), clock=FakeClock()).buy(purchase)
    assert server.requests == 1


def test_the_spending_configuration_waits_a_minute_and_never_repeats():
    assert clients.SPENDING.retries["total_max_attempts"] == 1
    assert (clients.SPENDING.read_timeout, clients.SPENDING.connect_timeout) == (60, 5)
