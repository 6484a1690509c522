"""The HTTP side: one WSGI application that takes every request of every service.

A request is addressed by its signature, logged, hit by a fault if one is ordered, and then
answered: by an operation of ours under the world's lock, or by moto.
"""

import io
import itertools
import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from moto.iam.models import get_account_id_from
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.test import run_wsgi_app
from werkzeug.wrappers import Request

from sandbox.aws import protocol
from sandbox.aws.buckets import Buckets
from sandbox.aws.errors import AwsError, throttled
from sandbox.aws.faults import Fault, FaultBook
from sandbox.aws.operations import FROM_MOTO, OPERATIONS
from sandbox.aws.permissions import check_permission
from sandbox.aws.times import stamp
from sandbox.aws.world import Call, World

StartResponse = Callable[..., Any]
log = logging.getLogger(__name__)


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


class Wire:
    """The WSGI application."""

    def __init__(self, world: World, *, kill_bot: Callable[[], None]) -> None:
        self.world = world
        self.faults = FaultBook(
            {*(name for _, name in OPERATIONS), *(name for _, name in FROM_MOTO)}
        )
        self.log = CallLog()
        self.failures: list[str] = []
        """Mistakes of the simulation itself; a test asserts that there are none."""
        self.stopping = threading.Event()
        self._buckets = Buckets()
        self._kill_bot = kill_bot
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._moto_lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Answers one request; raises ConnectionError where the connection is to drop."""
        request = Request(environ)
        body = request.get_data()
        address = protocol.address_of(request.headers.get("Authorization", ""))
        if address is None:
            return self._send(self._refusal("", AwsError("MissingAuthenticationToken", "Not signed.")), start_response)
        call = self._read(address, request.headers.get("X-Amz-Target"), body)
        row = self.log.begin(call)
        fault = self.faults.take(call)
        if fault is None:
            reply = self._answer(call, environ, body)
            row["outcome"] = reply.outcome
            return self._send(reply, start_response)
        return self._answer_under(fault, call, row, environ, body, start_response)

    def _answer_under(
        self,
        fault: Fault,
        call: Call,
        row: dict[str, Any],
        environ: dict[str, Any],
        body: bytes,
        start_response: StartResponse,
    ) -> Iterable[bytes]:
        """The reply of a call that a fault befalls."""
        match fault.kind:
            case "lost-request" | "kill-before-call":
                row["outcome"] = fault.kind
                if fault.kind == "kill-before-call":
                    self._kill_bot()
                raise ConnectionResetError(fault.kind)
            case "throttle":
                reply = self._refusal(call.service, throttled(call.service, call.operation))
            case "error":
                message = f"The simulated AWS was told to answer {fault.code}."
                reply = self._refusal(call.service, AwsError(fault.code, message))
            case "slow-sale":
                self.stopping.wait(fault.seconds)
                reply = self._answer(call, environ, body)
            case _:
                reply = self._answer(call, environ, body)
        row["outcome"] = reply.outcome
        match fault.kind:
            case "lost-answer" | "kill-before-answer":
                row["outcome"] = fault.kind
                if fault.kind == "kill-before-answer":
                    self._kill_bot()
                raise ConnectionResetError(fault.kind)
            case "truncated-answer":
                row["outcome"] = fault.kind
                half = reply.body[: len(reply.body) // 2]
                return self._send(replace(reply, body=half), start_response)
            case "slow":
                self.stopping.wait(fault.seconds)
            case "kill-after-answer":
                row["outcome"] = fault.kind
                return Sent(self._send(reply, start_response), self._kill_bot)
            case _:
                pass
        return self._send(reply, start_response)

    def _read(self, address: protocol.Address, target: str | None, body: bytes) -> Call:
        operation = protocol.operation_of(target, body)
        model = protocol.operation_model(address.service, operation)
        return Call(
            service=address.service,
            operation=operation,
            region=address.region,
            account=get_account_id_from(address.access_key),
            params=protocol.parse(address.service, model, body) if model else {},
            at=self.world.now(),
        )

    def _answer(self, call: Call, environ: dict[str, Any], body: bytes) -> Reply:
        """Does what is asked; never raises."""
        try:
            with self.world.lock:
                self.world.settle()
                self._buckets.take(call)
                check_permission(self.world.supply, call)
                if call.params.get("DryRun"):
                    raise AwsError(
                        "DryRunOperation",
                        "Request would have succeeded, but DryRun flag is set.",
                    )
                handler = OPERATIONS.get((call.service, call.operation))
                if handler is not None:
                    return self._render(call, handler(self.world, call))
            if (call.service, call.operation) in FROM_MOTO:
                return self._ask_moto(environ, body)
            raise AwsError(
                "UnknownOperationException" if call.service != "ec2" else "UnsupportedOperation",
                f"The simulated AWS does not offer {call.operation or 'this'} of {call.service}.",
            )
        except AwsError as error:
            return self._refusal(call.service, error)
        except ConnectionResetError:
            raise
        except Exception as error:
            log.exception("The simulated AWS failed at %s", call.operation)
            self.failures.append(f"{call.operation}: {error!r}")
            return self._refusal(call.service, AwsError("InternalFailure", f"Simulation: {error!r}"))

    def _render(self, call: Call, answer: dict[str, Any]) -> Reply:
        model = protocol.operation_model(call.service, call.operation)
        if model is None:
            raise protocol.ShapeError(f"botocore knows no {call.operation} of {call.service}")
        content_type, body = protocol.render(call.service, model, answer)
        return Reply(200, [("Content-Type", content_type)], body, "ok")

    def _refusal(self, service: str, error: AwsError) -> Reply:
        request_id = str(uuid.uuid5(uuid.NAMESPACE_OID, str(next(_REQUESTS))))
        content_type, body = protocol.render_error(service, error, request_id)
        headers = [("Content-Type", content_type), ("x-amzn-RequestId", request_id)]
        return Reply(error.status, headers, body, error.code)

    def _ask_moto(self, environ: dict[str, Any], body: bytes) -> Reply:
        """moto's reply; one at a time, since its backends are not made for threads."""
        copy = {key: value for key, value in environ.items() if not key.startswith("werkzeug.")}
        copy["wsgi.input"] = io.BytesIO(body)
        with self._moto_lock:
            chunks, status, headers = run_wsgi_app(self._moto, copy, buffered=True)
        content = b"".join(chunks)
        number = int(status.split(maxsplit=1)[0])
        kept = [(key, value) for key, value in headers if key.lower() != "content-length"]
        return Reply(number, kept, content, "ok" if number < 400 else f"http-{number}")

    @staticmethod
    def _send(reply: Reply, start_response: StartResponse) -> Iterable[bytes]:
        start_response(f"{reply.status} -", [*reply.headers, _length(reply)])
        return [reply.body]


_REQUESTS = itertools.count()


def _length(reply: Reply) -> tuple[str, str]:
    return "Content-Length", str(len(reply.body))


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
