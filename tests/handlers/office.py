"""Everything around the handlers, with services that only remember what they were told."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from wsgiref.util import setup_testing_defaults

import structlog
from slack_sdk.signature import SignatureVerifier

from bot.domain.decision import Certainty, Decision, Note, Option
from bot.domain.errors import NotAllowedError, UnknownRecordError
from bot.domain.lifecycle import ProposalState, ReservationState
from bot.domain.market import Kind, Market, NotRead, Segment
from bot.domain.records import Proposal, Reservation, Switch
from bot.domain.request import Choice, Parsed, Problem, Question, Request, Status
from bot.services.digests.homes import HomeView, Shelf
from bot.services.requests.asking import Asker, Filed
from bot.services.words.views import CardView
from handlers import Answering, Desk, Gateway, SlackPeople, Worker, register
from handlers.web import posting_client, reading_client
from storage.memory import MemoryStore
from storage.sqlite import SqliteStore
from tests.handlers.fake_slack import FakeSlack, person

NOW = datetime(2027, 3, 10, 15, 0, tzinfo=UTC)
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
WORKSPACE = "T0GPU"
TOKEN = "xoxb-not-a-token"


@dataclass
class FakeClock:
    at: datetime = NOW

    def now(self) -> datetime:
        return self.at


@dataclass
class FakeBell:
    rung: int = 0

    def ring(self) -> None:
        self.rung += 1


def option(rank: int = 1, **changes: Any) -> Option:
    """Return an option: two p5.48xlarge as a Capacity Block for three days."""
    start = datetime(2027, 3, 12, 11, 30, tzinfo=UTC)
    end = start + timedelta(days=3)
    values: dict[str, Any] = {
        "rank": rank,
        "kind": Kind.CAPACITY_BLOCK,
        "refs": (f"cb-{rank}",),
        "account": "research",
        "region": "us-east-1",
        "zone": "us-east-1b",
        "instance_type": "p5.48xlarge",
        "instance_count": 2,
        "segments": (Segment(start=start, end=end),),
        "usable_end": end - timedelta(minutes=30),
        "usable_hours": Decimal("71.5"),
        "total_usd": Decimal("6877.44"),
        "usd_per_instance_hour": Decimal("47.76"),
        "usd_per_accelerator_hour": Decimal("5.97"),
        "versus_on_demand": Decimal("0.8677"),
        "break_even_utilization": Decimal("0.8677"),
        "certainty": Certainty.GUARANTEED,
        "cancellable": False,
        "paid": "upfront",
        "reasons": (Note(code="cheapest", text="It costs least."),),
        "warnings": (Note(code="not_cancellable", text="It cannot be cancelled."),),
    }
    return Option(**{**values, **changes})


def decision(*options: Option, **changes: Any) -> Decision:
    """Return a decision with one market that was not read."""
    values: dict[str, Any] = {
        "recommended": 1 if options else None,
        "options": options,
        "rejected": (),
        "not_read": (
            NotRead(
                account="research", region="us-west-2", market="capacity_block", why="throttled"
            ),
        ),
        "advice": (),
        "digest": "d1" * 32,
    }
    return Decision(**{**values, **changes})


def reservation(number: int = 42, **changes: Any) -> Reservation:
    """Return a quoted reservation."""
    values: dict[str, Any] = {
        "id": number,
        "revision": 1,
        "state": ReservationState.QUOTED,
        "workspace": WORKSPACE,
        "requester": "U0ANA",
        "owner": "U0ANA",
        "team": "vision",
        "channel": "C0GPU",
        "request": request(),
        "line": "reserve 2 p5.48xlarge for 72h",
        "zone": "Europe/Berlin",
        "locale": "en-US",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Reservation(**{**values, **changes})


def request(**changes: Any) -> Request:
    """Return a request for two machines over three days."""
    values: dict[str, Any] = {
        "instance_type": "p5.48xlarge",
        "instance_count": 2,
        "duration_hours": Decimal(72),
        "reason": "eval run",
        "utilization": Decimal("0.6"),
    }
    return Request(**{**values, **changes})


def proposal(number: int = 7, **changes: Any) -> Proposal:
    """Return an open proposal."""
    values: dict[str, Any] = {
        "id": number,
        "reservation_id": 42,
        "version": 1,
        "state": ProposalState.OPEN,
        "option": option(),
        "legs": (),
        "ceiling": Decimal("6877.44"),
        "team": "vision",
        "needed": 1,
        "approvers": ("U0BRUNO", "U0CARLA"),
        "asked_by": "U0ANA",
        "asked_at": NOW,
        "expires_at": NOW + timedelta(hours=2, minutes=30),
    }
    return Proposal(**{**values, **changes})


def card(**changes: Any) -> CardView:
    """Return a card of a quoted reservation with two options."""
    values: dict[str, Any] = {
        "reservation": reservation(),
        "decision": decision(option(), option(2, total_usd=Decimal("7925.76"))),
        "decided_at": NOW,
        "proposal": None,
        "approvals": (),
        "purchases": (),
        "receipts": (),
        "budget_left": Decimal("33122.56"),
        "switch": Switch.ON,
        "progress": "",
        "seen_at": NOW,
    }
    return CardView(**{**values, **changes})


@dataclass
class Services:
    """Every service at once. `told` is what was asked of them, in order."""

    told: list[tuple[Any, ...]] = field(default_factory=list)
    filed: list[tuple[str, str]] = field(default_factory=list)
    cards: dict[int, CardView] = field(default_factory=dict)
    refuse: dict[str, list[Exception]] = field(default_factory=dict)

    def _hear(self, *what: Any) -> None:
        self.told.append(what)
        waiting = self.refuse.get(what[0])
        if waiting:
            raise waiting.pop(0)

    def file(self, parsed: Parsed, *, by: Asker, again: bool = False) -> Filed:
        self._hear("file", parsed.line, by.user, again)
        assert parsed.line is not None
        same = [
            number
            for number, (user, line) in enumerate(self.filed, 12)
            if (user, line) == (by.user, parsed.line)
        ]
        if same and not again:
            return Filed(reservation=None, same_as=same[-1])
        self.filed.append((by.user, parsed.line))
        filed = reservation(
            len(self.filed) + 11, state=ReservationState.REQUESTED, zone=by.zone, locale=by.locale
        )
        return Filed(reservation=filed, same_as=None)

    def cancel(self, reservation_id: int, *, by: str) -> Reservation:
        self._hear("cancel", reservation_id, by)
        return reservation(reservation_id)

    def change(self, reservation_id: int, parsed: Parsed, *, by: str) -> Reservation:
        self._hear("change", reservation_id, parsed.line, by)
        return reservation(reservation_id)

    def show(self, reservation_id: int, *, rank: int, by: str) -> None:
        self._hear("show", reservation_id, rank, by)

    def again(self, reservation_id: int, *, by: str) -> None:
        self._hear("again", reservation_id, by)

    def plan(
        self, request: Request, *, zone: str, requester: str | None
    ) -> tuple[Market, Decision]:
        self._hear("plan", zone, requester)
        return Market(as_of=NOW), decision(option())

    def propose(self, reservation_id: int, *, by: str, rank: int | None = None) -> Proposal:
        self._hear("propose", reservation_id, by, rank)
        return proposal()

    def approve(self, proposal_id: int, *, by: str) -> Proposal:
        self._hear("approve", proposal_id, by)
        if by not in ("U0BRUNO", "U0CARLA"):
            raise NotAllowedError("You may not approve this: ask Bruno or Carla.")
        return proposal(proposal_id)

    def deny(self, proposal_id: int, *, by: str, reason: str) -> Proposal:
        self._hear("deny", proposal_id, by, reason)
        return proposal(proposal_id)

    def state(self) -> Switch:
        return Switch.ON

    def set(self, to: Switch, *, by: str) -> None:
        self._hear("set", to, by)

    def card(self, reservation_id: int) -> CardView:
        if reservation_id not in self.cards:
            raise UnknownRecordError(f"no {reservation_id}")
        return self.cards[reservation_id]

    def copy(self, reservation_id: int, *, reader: str) -> CardView:
        return self.card(reservation_id)

    def proposal(self, proposal_id: int) -> CardView:
        for view in self.cards.values():
            if view.proposal is not None and view.proposal.id == proposal_id:
                return view
        raise UnknownRecordError(f"no proposal {proposal_id}")

    def listing(
        self, *, scope: str, user: str, before_id: int | None = None
    ) -> tuple[CardView, ...]:
        numbers = sorted(self.cards, reverse=True)
        return tuple(
            self.cards[number] for number in numbers if before_id is None or number < before_id
        )[:20]

    def home(self, user: str) -> HomeView:
        return HomeView(user=user, mine=Shelf(views=self.listing(scope="mine", user=user)))


@dataclass
class FakeLanguage:
    """Understands a handful of lines, as the language would."""

    asked: list[tuple[str, datetime, str, str]] = field(default_factory=list)

    def __call__(  # noqa: PLR0911 - one return for each line that it knows
        self,
        text: str,
        *,
        now: datetime,
        zone: str,
        locale: str,
        answers: dict[str, str] | None = None,
    ) -> Parsed:
        self.asked.append((text, now, zone, locale))
        words = text.split()
        verb = words[0] if words else "reserve"
        match verb:
            case "reserve" if len(words) < 2:
                return ask("reserve", Question(field="instance_type", question="What?", choices=()))
            case "reserve" if "friday" in words and not answers:
                return ask(
                    "reserve",
                    Question(
                        field="earliest_start",
                        question="Which Friday?",
                        choices=(
                            Choice(label="Fri 12 Mar 2027", value="2027-03-12T00:00:00Z"),
                            Choice(label="Fri 19 Mar 2027", value="2027-03-19T00:00:00Z"),
                        ),
                    ),
                )
            case "reserve" if "0" in words:
                at = text.index(" 0 ") + 1
                problem = Problem(
                    message="A count of 0 reserves nothing.",
                    hint="reserve 1 p5.48xlarge for 1 day",
                    at=(at, at + 1),
                )
                return refused(problem)
            case "reserve" | "plan":
                extra = "".join(f" {name}={value}" for name, value in (answers or {}).items())
                return ok(verb, line=text + extra, request=request())
            case "frobnicate":
                return refused(Problem(message="Unknown word.", hint="reserve", at=(0, 10)))
            case "list" | "help" | "stop" | "resume":
                scope = words[1] if len(words) > 1 else None
                return ok(verb, arguments={"scope": scope} if verb == "list" else {"verb": scope})
            case "deny":
                return ok(verb, id=words[1], arguments={"reason": " ".join(words[2:])})
            case _:
                return ok(verb, id=words[1] if len(words) > 1 else None)


def ok(
    verb: str,
    *,
    id: str | None = None,  # noqa: A002 - the contract's own name
    line: str | None = None,
    request: Request | None = None,
    arguments: dict[str, str | int | None] | None = None,
) -> Parsed:
    return Parsed(
        status=Status.OK,
        command=verb,
        id=id,
        arguments=arguments or {},
        request=request,
        line=line,
        echo=f"You said: {line}" if line else None,
        questions=(),
        problem=None,
    )


def ask(verb: str, *questions: Question) -> Parsed:
    return ok(verb).model_copy(
        update={"status": Status.ASK, "questions": questions, "request": Request()}
    )


def refused(problem: Problem) -> Parsed:
    return ok("reserve").model_copy(
        update={"status": Status.REFUSED, "problem": problem, "command": None}
    )


class Office:
    """The handlers on a fake Slack, with a store on disk when a path is given."""

    def __init__(self, slack: FakeSlack, *, database: Path | None = None) -> None:
        self.slack = slack
        self.clock = FakeClock()
        self.bell = FakeBell()
        self.services = Services()
        self.language = FakeLanguage()
        self.wall = FakeWall()
        self.store = (
            SqliteStore(database, holder="test") if database else MemoryStore(holder="test")
        )
        self.posting = posting_client(TOKEN, base_url=slack.api)
        self.reading = reading_client(TOKEN, base_url=slack.api)
        self.people = SlackPeople(
            client=self.reading, store=self.store, clock=self.clock, workspace=WORKSPACE
        )
        self.log = structlog.get_logger("test")
        self.answering = Answering(posting=self.posting, log=self.log)
        self.desk = Desk(
            store=self.store,
            clock=self.clock,
            bell=self.bell,
            people=self.people,
            parse=self.language,
            help=lambda verb, locale: f"Help in {locale}\n\n/gpu reserve 16xH100 for 3 days",
            asking=self.services,
            quoting=self.services,
            proposing=self.services,
            approving=self.services,
            switching=self.services,
            views=self.services,
            resume_to=Switch.SHADOW,
        )
        self.worker = Worker(desk=self.desk, answering=self.answering, log=self.log)
        self.app = register(
            self.desk,
            self.answering,
            bot_token=TOKEN,
            workspace=WORKSPACE,
            base_url=slack.api,
            wall=self.wall,
        )
        self.gateway = Gateway(
            app=self.app,
            signing_secret=SECRET,
            workspace=WORKSPACE,
            app_id="A0GPUBOT",
            health=lambda: (True, {"ok": True}),
            wall=self.wall,
        )
        self.triggers = 0

    def command(self, text: str, *, user: str = "U0ANA", **changes: str) -> tuple[int, str]:
        """Send a slash command and return what it was answered."""
        self.triggers += 1
        form = {
            "token": "deprecated",
            "command": "/gpu",
            "text": text,
            "user_id": user,
            "team_id": WORKSPACE,
            "channel_id": "C0GPU",
            "channel_name": "gpu",
            "api_app_id": "A0GPUBOT",
            "trigger_id": f"T{self.triggers}.1.abc",
            "response_url": self.slack.address(f"command-{self.triggers}"),
            **changes,
        }
        return self.post(urlencode(form))

    def press(
        self, action_id: str, value: str, *, user: str = "U0ANA", ts: str = "1.1", **changes: Any
    ) -> tuple[int, str]:
        """Press a button."""
        self.triggers += 1
        payload = {
            "type": "block_actions",
            "user": {"id": user, "team_id": changes.pop("home", WORKSPACE)},
            "team": {"id": WORKSPACE},
            "api_app_id": "A0GPUBOT",
            "container": {"type": "message", "message_ts": ts, "channel_id": "C0GPU"},
            "channel": {"id": "C0GPU"},
            "trigger_id": f"T{self.triggers}.2.abc",
            "response_url": self.slack.address(f"press-{self.triggers}"),
            "actions": [
                {
                    "type": "button",
                    "action_id": action_id,
                    "value": value,
                    "action_ts": f"1800000000.{self.triggers:06d}",
                }
            ],
            **changes,
        }
        return self.post(urlencode({"payload": json.dumps(payload)}))

    def submit(
        self,
        callback: str,
        values: dict[str, str],
        *,
        context: str = "{}",
        user: str = "U0ANA",
        view_hash: str = "h1",
    ) -> tuple[int, Any]:
        """Send a form and return what it was answered."""
        state = {
            name: {"value": {"type": "plain_text_input", "value": v}} for name, v in values.items()
        }
        payload = {
            "type": "view_submission",
            "user": {"id": user, "team_id": WORKSPACE},
            "team": {"id": WORKSPACE},
            "api_app_id": "A0GPUBOT",
            "view": {
                "id": "V1",
                "hash": view_hash,
                "type": "modal",
                "callback_id": callback,
                "private_metadata": context,
                "state": {"values": state},
                "app_installed_team_id": WORKSPACE,
            },
        }
        status, body = self.post(urlencode({"payload": json.dumps(payload)}))
        return status, json.loads(body) if body else None

    def event(self, event: dict[str, Any], *, event_id: str = "Ev1") -> tuple[int, str]:
        """Deliver an event."""
        body = {
            "type": "event_callback",
            "team_id": WORKSPACE,
            "api_app_id": "A0GPUBOT",
            "event_id": event_id,
            "event": event,
        }
        return self.post(json.dumps(body), kind="application/json")

    def post(
        self,
        body: str,
        *,
        kind: str = "application/x-www-form-urlencoded",
        sent: float | None = None,
        signature: str | None = None,
        stamp: str | None = None,
    ) -> tuple[int, str]:
        """Post a signed body to the gateway, as the server does."""
        timestamp = stamp or str(int(self.wall() if sent is None else sent))
        signed = SignatureVerifier(SECRET).generate_signature(timestamp=timestamp, body=body)
        return self.call(
            "POST",
            "/slack/events",
            body.encode(),
            CONTENT_TYPE=kind,
            HTTP_X_SLACK_REQUEST_TIMESTAMP=timestamp,
            HTTP_X_SLACK_SIGNATURE=signature or signed,
        )

    def call(self, method: str, path: str, body: bytes = b"", **headers: Any) -> tuple[int, str]:
        """Call the WSGI application."""
        environ: dict[str, Any] = {}
        setup_testing_defaults(environ)
        environ.update(REQUEST_METHOD=method, PATH_INFO=path, CONTENT_LENGTH=str(len(body)))
        environ.update(headers)
        environ["wsgi.input"].write(body)
        environ["wsgi.input"].seek(0)
        seen: list[str] = []
        answer = self.gateway(environ, lambda status, _: seen.append(status))
        return int(seen[0].split()[0]), b"".join(answer).decode()

    def work(self) -> None:
        """Work off the inbox."""
        for _ in range(50):
            if self.worker.step() == 0:
                return

    def said(self) -> str:
        """Return the last private message, text and blocks, as one string."""
        return json.dumps(self.slack.private[-1], ensure_ascii=False)

    def value(self, action_id: str, nth: int = 0) -> str:
        """Return the value of a button in the last private message."""
        found = [
            element["value"]
            for block in self.slack.private[-1]["blocks"]
            for element in [*block.get("elements", []), block.get("accessory") or {}]
            if element.get("action_id") == action_id
        ]
        return str(found[nth])


@dataclass
class FakeWall:
    """The wall clock, which moves only when told."""

    at: float = NOW.timestamp()

    def __call__(self) -> float:
        return self.at


def staff() -> dict[str, Any]:
    """Return everybody that users.info knows."""
    return {
        "U0ANA": person("U0ANA"),
        "U0LIN": person("U0LIN", zone="America/Sao_Paulo", locale="pt-BR"),
        "U0BRUNO": person("U0BRUNO"),
        "U0CARLA": person("U0CARLA"),
        "U0DIEGO": person("U0DIEGO"),
        "U0EVE": person("U0EVE", team="T0PARTNER", is_stranger=True),
        "U0GONE": person("U0GONE", deleted=True),
    }
