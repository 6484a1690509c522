"""A scenario file: the clock, the people, the supply, quotas, events and faults of a world.

Described in sandbox/README.md; an unknown key or a wrong value is refused with its line.
"""

from collections.abc import Hashable
from pathlib import Path
from typing import Any, Literal, Self, get_args
from zoneinfo import available_timezones

import yaml
from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from typing_extensions import override

from sandbox.aws.events import check_event
from sandbox.aws.faults import FaultBook
from sandbox.aws.operations import FROM_MOTO, OPERATIONS
from sandbox.aws.supply import QuotaSetting, Supply
from sandbox.clock import DEFAULT_START
from sandbox.slack.api import check_method
from sandbox.slack.faults import parse_fault
from sandbox.slack.people import PARTNER_TEAM_ID, TEAM_ID, Person, default_people


class ScenarioError(ValueError):
    """The file cannot be used; the message names the file, the line and what to write."""


class Part(BaseModel):
    """A frozen value of a scenario that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PersonChange(Part):
    """What differs from the default for one person; a new id needs a name."""

    name: str | None = None
    real_name: str | None = None
    tz: str | None = None
    locale: str | None = None
    role: str | None = None
    organisation: Literal["ours", "partner"] | None = None
    deleted: bool | None = None

    @model_validator(mode="after")
    def _zone_exists(self) -> Self:
        if self.tz is not None and self.tz not in available_timezones():
            raise ValueError(f"tz {self.tz!r} is no IANA zone; write one like Europe/Berlin")
        return self

    def applied_to(self, user: str, person: Person | None) -> Person:
        """The person with these changes."""
        changes = self.model_dump(exclude_none=True, exclude={"organisation"})
        if self.organisation is not None:
            ours = self.organisation == "ours"
            changes["team_id"] = TEAM_ID if ours else PARTNER_TEAM_ID
        if person is not None:
            return Person.model_validate(person.model_dump() | changes)
        name = changes.setdefault("name", user.lower())
        changes.setdefault("real_name", name.title())
        return Person.model_validate({"id": user} | changes)


class SlackFault(Part):
    """A fault that waits for calls of a Web API method from the start."""

    method: str
    fault: str
    times: int = Field(default=1, ge=1, le=1000)

    @model_validator(mode="after")
    def _fault_is_known(self) -> Self:
        check_method(self.method)
        parse_fault(self.fault)
        return self


class AwsEvent(BaseModel):
    """Something that happens to the simulated AWS at an instant of the world."""

    model_config = ConfigDict(frozen=True, extra="allow")

    at: AwareDatetime
    event: str

    @model_validator(mode="after")
    def _event_is_known(self) -> Self:
        check_event(self.order())
        return self

    def order(self) -> dict[str, Any]:
        """The event as the control surface would send it."""
        return {"event": self.event} | (self.model_extra or {})


class Faults(Part):
    """Faults that stand from the start."""

    slack: tuple[SlackFault, ...] = ()
    aws: tuple[dict[str, Any], ...] = ()

    @field_validator("aws")
    @classmethod
    def _orders_are_known(cls, orders: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
        book = FaultBook(name for _, name in (*OPERATIONS, *FROM_MOTO))
        for order in orders:
            book.add(order)
        return orders


class Scenario(Part):
    """A whole scenario; everything has a default."""

    clock: AwareDatetime = DEFAULT_START
    people: dict[str, PersonChange] = Field(default_factory=dict)
    supply: Supply = Supply()
    quotas: tuple[QuotaSetting, ...] = ()
    events: tuple[AwsEvent, ...] = ()
    faults: Faults = Faults()

    @model_validator(mode="after")
    def _one_place_for_quotas(self) -> Self:
        if self.quotas and self.supply.quotas:
            raise ValueError("quotas stand twice: keep them at the top, not in supply")
        return self

    def everybody(self) -> tuple[Person, ...]:
        """The default people with the file's changes, then its new ones."""
        people: dict[str, Person] = {person.id: person for person in default_people()}
        for user, change in self.people.items():
            people[user] = change.applied_to(user, people.get(user))
        return tuple(people.values())

    def whole_supply(self) -> Supply:
        """The supply with its quotas, as the simulated AWS takes it."""
        quotas = self.quotas or self.supply.quotas
        return self.supply.model_copy(update={"quotas": quotas})


def read_scenario(path: Path) -> Scenario:
    """The scenario in the file.

    Raises:
        ScenarioError: it cannot be read, or a key or value is wrong.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        values = yaml.load(text, Loader=_OneKeyLoader)  # noqa: S506 - a SafeLoader
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ScenarioError(f"{path}: {' '.join(str(error).split())}") from error
    if values is None:
        return Scenario()
    if not isinstance(values, dict):
        raise ScenarioError(f"{path}, line 1: write keys and values, such as `clock: …`")
    try:
        scenario = Scenario.model_validate(values)
        scenario.everybody()
    except ValidationError as error:
        raise ScenarioError("\n".join(_complaints(path, tree, error))) from error
    return scenario


class _OneKeyLoader(yaml.SafeLoader):
    """A safe loader that refuses a key that stands twice and keeps times aware."""

    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """See yaml.SafeLoader."""
        seen: set[object] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} stands twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def _complaints(path: Path, tree: yaml.Node | None, error: ValidationError) -> list[str]:
    said = []
    for fault in error.errors():
        keys = [str(part) for part in fault["loc"]]
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            message = f"unknown key; known here: {', '.join(_known_keys(fault['loc'][:-1]))}"
        at = f"{'.'.join(keys)}: " if keys else ""
        said.append(f"{path}, line {_line(tree, fault['loc'])}: {at}{message}")
    return said


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    """The keys of the part at `location`, found by following the annotations."""
    here: object = Scenario
    for part in location:
        if isinstance(here, type) and issubclass(here, BaseModel):
            here = here.model_fields[str(part)].annotation
        else:
            here = next((a for a in reversed(get_args(here)) if a is not Ellipsis), object)
    if isinstance(here, type) and issubclass(here, BaseModel):
        return sorted(here.model_fields)
    return []


def _line(node: yaml.Node | None, location: tuple[int | str, ...]) -> int:
    """The line of the deepest part of `location` that the file holds, counted from 1."""
    if node is None:
        return 1
    line = node.start_mark.line + 1
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(part)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            if part >= len(node.value):
                break
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line
