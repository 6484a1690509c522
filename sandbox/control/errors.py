"""What a wrong request to the world's port is answered with."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from sandbox.bot_process import BotError
from sandbox.clock import ClockError
from sandbox.control.journey import JumpError
from sandbox.slack.errors import ActError

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Body(BaseModel):
    """A request's JSON; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


BodyT = TypeVar("BodyT", bound=Body)


class RequestError(ValueError):
    """A request that makes no sense, in words for the person who sent it."""


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer wrong requests with 400 and words; keep strangers' web pages out.

    A page of another site could reach a loopback port: Host and Origin must be our own.
    """
    host = request.host.rsplit(":", 1)[0] if not request.host.endswith("]") else request.host
    origin = request.headers.get("Origin")
    if host not in LOOPBACK or (origin is not None and origin != f"http://{request.host}"):
        return web.json_response({"error": "this port serves its own page only"}, status=403)
    try:
        return await handler(request)
    except (RequestError, ActError, ClockError, BotError) as error:
        return web.json_response({"error": str(error)}, status=400)
    except JumpError as error:
        return web.json_response({"error": str(error)}, status=504)
    except web.HTTPException as error:
        if request.path.startswith("/control"):
            said = f"{request.method} {request.path}: {error.reason}"
            return web.json_response({"error": said}, status=error.status)
        raise


async def read_body(request: web.Request, model: type[BodyT]) -> BodyT:
    """The request's JSON as the model.

    Raises:
        RequestError: no JSON, an unknown key, or a wrong value.
    """
    try:
        return model.model_validate_json(await request.read() or b"{}")
    except ValidationError as error:
        raise RequestError(told(error, model)) from error


def told(error: ValidationError, model: type[BaseModel]) -> str:
    """The faults of a body in words."""
    said = []
    for fault in error.errors():
        name = ".".join(str(part) for part in fault["loc"])
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            message = f"unknown; known: {', '.join(model.model_fields)}"
        elif fault["type"] == "missing":
            message = "missing"
        said.append(f"{name}: {message}" if name else message)
    return "; ".join(said)


def query(request: web.Request, name: str) -> str:
    """A parameter of the query.

    Raises:
        RequestError: it is missing.
    """
    value = request.query.get(name)
    if not value:
        raise RequestError(f"say which: ?{name}=…")
    return value
