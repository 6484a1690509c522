"""`/control/slack/*`: what a script does as a person in the simulated workspace."""

from dataclasses import asdict
from typing import Any, Self

from aiohttp import web
from pydantic import Field, model_validator

from sandbox.control.errors import Body, RequestError, query, read_body
from sandbox.slack.acting import Acting
from sandbox.slack.api import WebApi, check_method
from sandbox.slack.faults import SOCKET_METHODS, parse_fault
from sandbox.slack.transport import Ack, SocketTransport
from sandbox.slack.workspace import Workspace

Json = dict[str, Any]
MOST_DELIVERIES = 20


class CommandBody(Body):
    """A `/gpu` command."""

    user: str
    channel: str
    text: str
    deliver: int = Field(default=1, ge=1, le=MOST_DELIVERIES)


class ClickBody(Body):
    """A press or a choice, on a message or on a view."""

    user: str
    action_id: str
    channel: str | None = None
    ts: str | None = None
    value: Any = None
    view: bool = False
    stale: bool = False
    deliver: int = Field(default=1, ge=1, le=MOST_DELIVERIES)

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if not self.view and (self.channel is None or self.ts is None):
            raise ValueError('say channel and ts, or "view": true')
        return self


class SubmitBody(Body):
    """The values of a modal."""

    user: str
    values: dict[str, dict[str, Any]] = Field(default_factory=dict)
    deliver: int = Field(default=1, ge=1, le=MOST_DELIVERIES)


class UserBody(Body):
    """Who does it."""

    user: str


class RedeliverBody(Body):
    """How often the last delivery comes again."""

    times: int = Field(default=1, ge=1, le=MOST_DELIVERIES)


class FaultBody(Body):
    """A fault for the next calls of a Web API method."""

    method: str
    fault: str
    times: int = Field(default=1, ge=1, le=1000)


class SlackControl:
    """Handlers of the simulated workspace."""

    def __init__(
        self, workspace: Workspace, acting: Acting, api: WebApi, socket: SocketTransport
    ) -> None:
        self._workspace = workspace
        self._acting = acting
        self._api = api
        self._socket = socket

    def add_to(self, app: web.Application) -> None:
        """Register the addresses."""
        app.router.add_post("/control/slack/command", self.command)
        app.router.add_get("/control/slack/messages", self.messages)
        app.router.add_post("/control/slack/click", self.click)
        app.router.add_get("/control/slack/view", self.view)
        app.router.add_post("/control/slack/submit", self.submit)
        app.router.add_post("/control/slack/close", self.close)
        app.router.add_post("/control/slack/redeliver", self.redeliver)
        app.router.add_post("/control/slack/fault", self.fault)
        app.router.add_get("/control/slack/people", self.people)
        app.router.add_get("/control/slack/calls", self.calls)

    async def command(self, request: web.Request) -> web.Response:
        """Type a command."""
        body = await read_body(request, CommandBody)
        text = body.text.strip()
        if text.startswith("/gpu"):
            text = text.removeprefix("/gpu").strip()
        ack = await self._acting.command(body.user, body.channel, text, body.deliver)
        return web.json_response(shown(ack))

    async def messages(self, request: web.Request) -> web.Response:
        """What a channel shows, to one person when `user` is given."""
        channel = query(request, "channel")
        if channel not in self._workspace.channels:
            known = ", ".join(self._workspace.channels)
            raise RequestError(f"there is no channel {channel}; channels: {known}")
        user = self._user(request) if "user" in request.query else None
        visible = self._workspace.messages.visible(channel, user)
        return web.json_response([message.shown() for message in visible])

    async def click(self, request: web.Request) -> web.Response:
        """Press a button or pick a choice."""
        body = await read_body(request, ClickBody)
        if body.view:
            ack = await self._acting.click_view(
                body.user, body.action_id, value=body.value, deliver=body.deliver
            )
        else:
            ack = await self._acting.click(
                body.user,
                body.channel or "",
                body.ts or "",
                body.action_id,
                value=body.value,
                stale=body.stale,
                deliver=body.deliver,
            )
        return web.json_response(shown(ack))

    async def view(self, request: web.Request) -> web.Response:
        """The open modal, or, with `home=1`, the Home tab, opened for it unless `open=0`."""
        user = self._user(request)
        home = request.query.get("home") in {"1", "true"}
        if home and request.query.get("open") == "0":
            view = self._workspace.views.home(user)
        elif home:
            view = await self._acting.open_home(user)
        else:
            view = self._workspace.views.modal(user)
        return web.json_response(None if view is None else view.shown())

    async def submit(self, request: web.Request) -> web.Response:
        """Fill and submit the open modal."""
        body = await read_body(request, SubmitBody)
        ack, errors = await self._acting.submit(body.user, body.values, body.deliver)
        view = self._workspace.views.modal(body.user)
        return web.json_response(
            shown(ack) | {"errors": errors, "view": None if view is None else view.shown()}
        )

    async def close(self, request: web.Request) -> web.Response:
        """Close the open modal."""
        body = await read_body(request, UserBody)
        return web.json_response(shown(await self._acting.close(body.user)))

    async def redeliver(self, request: web.Request) -> web.Response:
        """Send the last delivery again."""
        body = await read_body(request, RedeliverBody)
        return web.json_response(shown(await self._acting.redeliver(body.times)))

    async def fault(self, request: web.Request) -> web.Response:
        """Set a fault; `disconnect` on the socket itself cuts it now."""
        body = await read_body(request, FaultBody)
        try:
            check_method(body.method)
            fault = parse_fault(body.fault)
        except ValueError as error:
            raise RequestError(str(error)) from error
        if fault.kind == "disconnect" and body.method in SOCKET_METHODS:
            await self._socket.cut()
        else:
            self._workspace.faults.add(body.method, fault, body.times)
        return web.json_response({"ok": True})

    async def people(self, request: web.Request) -> web.Response:  # noqa: ARG002 - aiohttp's shape
        """Who and what is in the workspace."""
        people = [
            person.model_dump() | {"direct_channel": person.direct_channel}
            for person in self._workspace.people.values()
        ]
        channels = [channel.model_dump() for channel in self._workspace.channels.values()]
        return web.json_response({"people": people, "channels": channels})

    async def calls(self, request: web.Request) -> web.Response:
        """Each Web API call so far."""
        method = request.query.get("method")
        calls = [asdict(call) for call in self._api.calls if method in (None, call.method)]
        return web.json_response(calls)

    def _user(self, request: web.Request) -> str:
        user = query(request, "user")
        if user not in self._workspace.people:
            known = ", ".join(self._workspace.people)
            raise RequestError(f"there is no {user}; people: {known}")
        return user


def shown(ack: Ack) -> Json:
    """An acknowledgement as the control surface tells it."""
    return {
        "ack_ms": ack.milliseconds,
        "status": ack.status,
        "ack_body": ack.body,
        "error": ack.error,
    }
