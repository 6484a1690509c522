"""A simulated AWS that real boto3 clients talk to over real HTTP; it knows nothing of the bot.

Set `AWS_ENDPOINT_URL` to what `start` returns. moto keeps its books in the process, so only one
simulated AWS can run in a process at a time.
"""

import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from moto.moto_api._internal import mock_random
from moto.moto_api._internal.models import moto_api_backend
from moto.moto_server.werkzeug_app import MotoRequestHandler
from typing_extensions import override
from werkzeug.serving import BaseWSGIServer, make_server

from sandbox.aws import bus, queues
from sandbox.aws.events import happen
from sandbox.aws.sales import sales
from sandbox.aws.supply import Supply
from sandbox.aws.wire import Wire
from sandbox.aws.world import World

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

__all__ = ["SimulatedAws", "Supply"]


POLL_SECONDS = 0.02
"""How soon the server notices that it is to end."""


class QuietHandler(MotoRequestHandler):
    """A request handler that writes no access log: the call log is the record."""

    @override
    def connection_dropped(
        self, error: BaseException, environ: "WSGIEnvironment | None" = None
    ) -> None:
        """Closes the connection, so that a lost answer is seen at once and not as a silence."""
        self.close_connection = True

    @override
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Says nothing."""


def _spare(*_: object) -> None:
    """What happens to the bot when nobody said how to end it: nothing."""


class SimulatedAws:
    """The simulated AWS: a server on loopback, and the levers of a sandbox."""

    def __init__(
        self,
        *,
        now: Callable[[], datetime],
        seed: int,
        supply: Supply | None = None,
        kill_bot: Callable[[], None] = _spare,
    ) -> None:
        self._world = World(now=now, seed=seed, supply=supply or Supply())
        if self._world.supply.event_queues:
            self._world.on_settled = lambda: bus.look(self._world)
        self._wire = Wire(self._world, kill_bot=kill_bot)
        self._server: BaseWSGIServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def failures(self) -> list[str]:
        """Mistakes of the simulation itself so far; a test asserts that there are none."""
        return list(self._wire.failures)

    def start(self, port: int = 0) -> str:
        """The endpoint URL, on 127.0.0.1; port 0 takes a free one."""
        mock_random.seed(self._world.seed)
        self._server = make_server(
            "127.0.0.1", port, self._wire, threaded=True, request_handler=QuietHandler
        )
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(POLL_SECONDS,), daemon=True
        )
        self._thread.start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        """Ends the server and empties moto's books; calls that wait are answered at once."""
        self._wire.stopping.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
        if self._wire.asked_moto:
            moto_api_backend.reset()

    def add_fault(self, fault: dict[str, Any]) -> None:
        """Orders a fault for the next matching calls.

        Raises:
            ValueError: the order is not understood.
        """
        self._wire.faults.add(fault)

    def event(self, event: dict[str, Any]) -> None:
        """Lets an event happen now.

        Raises:
            ValueError: the event is not understood, or what it names is not there.
        """
        happen(self._world, event)

    def calls(self, operation: str | None = None) -> list[dict[str, Any]]:
        """Every API call on the wire in the order of arrival, or those of one operation."""
        return self._wire.log.rows(operation)

    def sold(self) -> list[dict[str, Any]]:
        """All that was sold or runs, in the order of time."""
        return sales(self._world)

    def queues(self) -> list[dict[str, Any]]:
        """The queues of events: how much waits in each, and what was given up."""
        with self._world.lock:
            return queues.rows(self._world)

    def next_event(self) -> datetime | None:
        """The next instant at which something changes by time alone."""
        return self._world.next_event()

    def settle(self) -> None:
        """Applies all changes that are due by now."""
        self._world.settle()
