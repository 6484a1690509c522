"""The HTTP side: one WSGI application that takes every request of every service.

A request is addressed by its signature, logged, hit by a fault if one is ordered, and then
answered: by an operation of ours under the world's lock, or by moto.
"""

import io
import itertools
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NoReturn

from moto.iam.models import get_account_id_from
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.http import HTTP_STATUS_CODES
from werkzeug.test import run_wsgi_app
from werkzeug.wrappers import Request

from sandbox.aws import naming, protocol, queues
from sandbox.aws.buckets import Buckets
from sandbox.aws.errors import AwsError, throttled
from sandbox.aws.faults import Fault, FaultBook
from sandbox.aws.furnishing import furnish
from sandbox.aws.operations import FROM_MOTO, OPERATIONS, Handler
from sandbox.aws.permissions import check_permission, role_of
from sandbox.aws.times import stamp
from sandbox.aws.world import Call, World

StartResponse = Callable[..., Any]
log = logging.getLogger(__name__)

POLL_SECONDS = 0.05
"""How soon a long poll sees a message."""

BEFORE = {"lost-request", "kill-before-call"}
AFTER = {"lost-answer", "kill-before-answer"}
"""Faults that drop the connection: before anything is done, and after all of it is."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole HTTP reply, and what it says in one word."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    outcome: str


class CallLog:
    """Every request on the wire, in the order of arrival."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def begin(self, call: Call) -> dict[str, Any]:
        """A new row; its outcome is filled in when there is one."""
        row = {
            "at": stamp(call.at),
            "operation": call.operation,
            "region": call.region,
            "account": call.account,
            "params": jsonable(call.params),
            "outcome": "pending",
        }
        if call.role is not None:
            row["role"] = call.role
        with self._lock:
            self._rows.append(row)
        return row

    def rows(self, operation: str | None) -> list[dict[str, Any]]:
        """The rows so far, of one operation or of all."""
        with self._lock:
            return [dict(row) for row in self._rows if operation in {None, row["operation"]}]


def jsonable(value: Any) -> Any:
    """The value with times as text, so that it can be written as JSON."""
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    return stamp(value) if isinstance(value, datetime) else value


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request as it came in, with its row in the call log."""

    call: Call
    environ: dict[str, Any]
    body: bytes
    row: dict[str, Any]


class Wire:
    """The WSGI application."""

    def __init__(self, world: World, *, kill_bot: Callable[[], None]) -> None:
        self.world = world
        self.faults = FaultBook(name for _, name in (*OPERATIONS, *FROM_MOTO))
        self.log = CallLog()
        self.failures: list[str] = []
        """Mistakes of the simulation itself; a test asserts that there are none."""
        self.stopping = threading.Event()
        self.asked_moto = False
        self._buckets = Buckets()
        self._kill_bot = kill_bot
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._moto_lock = threading.Lock()
        self._requests = itertools.count(1)

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Answers one request; raises ConnectionError where the connection is to drop."""
        request = Request(environ)
        body = request.get_data()
        address = protocol.address_of(request.headers.get("Authorization", ""))
        if address is None:
            unsigned = AwsError("MissingAuthenticationToken", "The request is not signed.")
            return _send(self._refusal("", unsigned), start_response)
        call = self._read(address, request, body)
        arrival = Arrival(call, environ, body, self.log.begin(call))
        fault = self.faults.take(call)
        if fault is None:
            return _send(self._answer(arrival), start_response)
        if fault.kind in BEFORE:
            return self._drop(arrival, fault)
        reply = self._answer_under(fault, arrival)
        if fault.kind in AFTER:
            return self._drop(arrival, fault)
        if fault.kind == "truncated-answer":
            arrival.row["outcome"] = fault.kind
            reply = replace(reply, body=reply.body[: len(reply.body) // 2])
        if fault.kind == "kill-after-answer":
            arrival.row["outcome"] = fault.kind
            return Sent(_send(reply, start_response), self._kill_bot)
        return _send(reply, start_response)

    def _answer_under(self, fault: Fault, arrival: Arrival) -> Reply:
        """The reply of a call that a fault befalls, however it will be delivered."""
        call = arrival.call
        if fault.kind in {"throttle", "error"}:
            told = f"The simulated AWS was told to answer {fault.code}."
            error = AwsError(fault.code, told)
            if fault.kind == "throttle":
                error = throttled(call.service, call.operation)
            arrival.row["outcome"] = error.code
            return self._refusal(call.service, error)
        if fault.kind == "slow-sale":
            self.stopping.wait(fault.seconds)
        reply = self._answer(arrival)
        if fault.kind == "slow":
            self.stopping.wait(fault.seconds)
        return reply

    def _drop(self, arrival: Arrival, fault: Fault) -> NoReturn:
        """Ends the connection without an answer, and the bot first when so ordered."""
        arrival.row["outcome"] = fault.kind
        if fault.kind.startswith("kill-"):
            self._kill_bot()
        raise ConnectionResetError(fault.kind)

    def _read(self, address: protocol.Address, request: Request, body: bytes) -> Call:
        named = protocol.operation_at(address.service, request.method, request.path)
        if named is None:
            named = protocol.operation_of(request.headers.get("X-Amz-Target"), body)
        operation, query = named, request.query_string.decode()
        model = protocol.operation_model(address.service, operation)
        return Call(
            service=address.service,
            operation=operation,
            region=address.region,
            account=get_account_id_from(address.access_key),
            params=protocol.parse(address.service, model, body, query) if model else {},
            at=self.world.now(),
            role=role_of(address.access_key),
        )

    def _answer(self, arrival: Arrival) -> Reply:
        """The reply to what is asked; a mistake of the simulation is a loud 500.

        Raises:
            ConnectionResetError: there is no such endpoint to answer.
        """
        call = arrival.call
        try:
            reply = self._perform(arrival)
        except AwsError as error:
            reply = self._refusal(call.service, error)
        except ConnectionResetError:
            arrival.row["outcome"] = "no-endpoint"
            raise
        except Exception as error:
            log.exception("The simulated AWS failed at %s", call.operation)
            self.failures.append(f"{call.operation}: {error!r}")
            broken = AwsError("InternalFailure", f"The simulation failed: {error!r}")
            reply = self._refusal(call.service, broken)
        arrival.row["outcome"] = reply.outcome
        return reply

    def _perform(self, arrival: Arrival) -> Reply:
        """Does what is asked, once the caller is let in.

        Raises:
            AwsError: the call is refused.
        """
        call = arrival.call
        handler = OPERATIONS.get((call.service, call.operation))
        self._wait_for_message(call)
        with self.world.lock:
            self.world.settle()
            self._buckets.take(call)
            check_permission(self.world, call)
            if call.params.get("DryRun"):
                raise AwsError(
                    "DryRunOperation", "Request would have succeeded, but DryRun flag is set."
                )
            if handler is not None:
                return self._render(call, self._handled(handler, call))
        if (call.service, call.operation) in FROM_MOTO:
            return self._ask_moto(arrival)
        code = "UnsupportedOperation" if call.service == "ec2" else "UnknownOperationException"
        raise AwsError(code, f"The simulated AWS does not offer {call.operation}.")

    def _wait_for_message(self, call: Call) -> None:
        """Holds a long poll of SQS until there is a message, at most as long as it asked for."""
        if (call.service, call.operation) != ("sqs", "ReceiveMessage"):
            return
        end = time.monotonic() + queues.wait_seconds(call)
        while time.monotonic() < end and not self.stopping.wait(POLL_SECONDS):
            with self.world.lock:
                self.world.settle()
                if queues.ready(self.world, call):
                    return

    def _handled(self, handler: Handler, call: Call) -> dict[str, Any]:
        """The answer of an operation of ours, in the zone names of the caller's account."""
        if call.account not in self.world.supply.own_zone_names:
            return handler(self.world, call)
        turned = replace(call, params=naming.asked(call.region, call.params))
        answer: dict[str, Any] = naming.told(call.region, handler(self.world, turned))
        return answer

    def _render(self, call: Call, answer: dict[str, Any]) -> Reply:
        model = protocol.operation_model(call.service, call.operation)
        if model is None:
            raise protocol.ShapeError(f"botocore knows no {call.operation} of {call.service}")
        request_id = self._request_id()
        content_type, body = protocol.render(call.service, model, answer, request_id)
        return Reply(200, _headers(content_type, request_id), body, "ok")

    def _refusal(self, service: str, error: AwsError) -> Reply:
        request_id = self._request_id()
        content_type, body = protocol.render_error(service, error, request_id)
        return Reply(error.status, _headers(content_type, request_id), body, error.code)

    def _request_id(self) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.world.seed}/{next(self._requests)}"))

    def _ask_moto(self, arrival: Arrival) -> Reply:
        """The reply of moto; one at a time, since its books are not made for threads."""
        environ = {k: v for k, v in arrival.environ.items() if not k.startswith("werkzeug.")}
        call, sent = arrival.call, arrival.body
        turns = call.account in self.world.supply.own_zone_names
        environ["wsgi.input"] = io.BytesIO(naming.asked_body(call.region, sent) if turns else sent)
        with self._moto_lock:
            self.asked_moto = True
            if call.service == "ec2":
                furnish(call.account, call.region)
            chunks, status, headers = run_wsgi_app(self._moto, environ, buffered=True)
        number = int(status.split(maxsplit=1)[0])
        kept = [(key, value) for key, value in headers if key.lower() != "content-length"]
        outcome = "ok" if number < 400 else f"http-{number}"
        body = b"".join(chunks)
        body = naming.told_body(call.region, body) if turns else body
        return Reply(number, kept, body, outcome)


def _headers(content_type: str, request_id: str) -> list[tuple[str, str]]:
    return [("Content-Type", content_type), ("x-amzn-RequestId", request_id)]


def _send(reply: Reply, start_response: StartResponse) -> Iterable[bytes]:
    length = ("Content-Length", str(len(reply.body)))
    start_response(
        f"{reply.status} {HTTP_STATUS_CODES.get(reply.status, 'Error')}", [*reply.headers, length]
    )
    return [reply.body]


class Sent:
    """A reply's body that tells when all of it has been sent."""

    def __init__(self, body: Iterable[bytes], after: Callable[[], None]) -> None:
        self._body = body
        self._after = after

    def __iter__(self) -> Iterator[bytes]:
        """The body as it is."""
        return iter(self._body)

    def close(self) -> None:
        """Called by the server once the body is on the wire (PEP 3333)."""
        self._after()
