"""What a person asked for, and what a text after /gpu means (contracts.md §1)."""

from enum import StrEnum

from bot.domain.base import Model
from bot.domain.values import Hours, Instant, Rate, Usd


class Target(StrEnum):
    """Where the capacity is used. A training plan's target is final."""

    EC2 = "ec2"
    TRAINING_JOB = "training-job"
    HYPERPOD = "hyperpod-cluster"
    ENDPOINT = "endpoint"
    STUDIO = "studio-apps"


class Request(Model):
    """One request, exactly as the contract prints it; never changed, only replaced.

    `earliest_start == latest_start` is a fixed start. `duration_hours` are elapsed hours.
    `max_hourly_usd` is per machine-hour. `utilization` is a share in (0, 1].
    """

    instance_type: str | None = None
    instance_count: int | None = None
    minimum_count: int | None = None
    accelerator: str | None = None
    accelerator_count: int | None = None
    ultraserver_type: str | None = None
    earliest_start: Instant | None = None
    latest_start: Instant | None = None
    latest_end: Instant | None = None
    duration_hours: Hours | None = None
    strict: bool = False
    interruptible: bool | None = None
    target: Target | None = None
    platform: str | None = None
    regions: tuple[str, ...] = ()
    max_total_usd: Usd | None = None
    max_hourly_usd: Usd | None = None
    utilization: Rate | None = None
    owner: str | None = None
    team: str | None = None
    channel: str | None = None
    reason: str | None = None


class Choice(Model):
    """One reading to pick; `value` is the value as the request would hold it."""

    label: str
    value: str


class Question(Model):
    """One thing to ask before anything goes on."""

    field: str
    question: str
    choices: tuple[Choice, ...]


class Problem(Model):
    """Why a text is refused. `hint` is a full line that parses; `at` a half-open span of it."""

    message: str
    hint: str
    at: tuple[int, int] | None = None


class Status(StrEnum):
    """Whether a text acts, must be asked about, or is refused."""

    OK = "ok"
    ASK = "ask"
    REFUSED = "refused"


class Parsed(Model):
    """The meaning of one text after /gpu, without doing it."""

    status: Status
    command: str | None
    id: str | None
    arguments: dict[str, str | int | None]
    request: Request | None
    line: str | None
    echo: str | None
    questions: tuple[Question, ...]
    problem: Problem | None
