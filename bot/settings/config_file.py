"""Reads the administrator's YAML into `Configuration`; every complaint names file and line.

Amounts stay the text that was written (never a binary float), durations are 10m, 24h or 7d,
`on` and `off` are words, and a key that stands twice is a fault, not the last one's win.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml
from pydantic import BaseModel, ValidationError

from bot.catalog import platforms, region_names
from bot.domain.errors import SettingsError
from bot.domain.rules import Premiums, Rules
from bot.policy.configuration import (
    Account,
    ApprovalRules,
    BreakGlass,
    Channels,
    Configuration,
    Delegate,
    Digest,
    Limits,
    Team,
    Tier,
)

EXAMPLE = (Path(__file__).parent / "example.yaml").read_text(encoding="utf-8")

MODELS: tuple[type[BaseModel], ...] = (
    Account, ApprovalRules, BreakGlass, Channels, Configuration, Delegate, Digest, Limits,
    Premiums, Rules, Team, Tier,
)  # fmt: skip
DURATIONS = frozenset(
    name
    for model in MODELS
    for name, info in model.model_fields.items()
    if info.annotation is timedelta or timedelta in get_args(info.annotation)
)
_MONEY = re.compile(r"\d{1,9}(\.\d{1,2})?")
"""Up to a billion dollars; no signs, exponents, or commas, which another reader reads otherwise."""
_DURATION = re.compile(r"^(\d+)(s|m|h|d|w)$")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

_DEEPEST, _MOST_VALUES, _MOST_DIGITS = 12, 20_000, 8
"""No honest file is deeper, longer, or needs larger whole numbers; aliases can make any."""

Place = tuple[str | int, ...]


class _EndlessError(Exception):
    """The file holds more than any file needs, from this line on."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


@dataclass(slots=True)
class _Reading:
    """What was read so far: the line of every place, and what is wrong already."""

    lines: dict[Place, int] = field(default_factory=dict)
    faults: list[tuple[int, str]] = field(default_factory=list)

    def value(self, node: yaml.Node, place: Place) -> Any:
        """Return what stands there. Raises _EndlessError when aliases make it too much."""
        self.lines[place] = node.start_mark.line + 1
        if len(place) > _DEEPEST or len(self.lines) > _MOST_VALUES:
            raise _EndlessError(node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return dict(self._pairs(node, place))
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*place, at)) for at, item in enumerate(node.value)]
        return self._scalar(node, place)

    def _pairs(self, node: yaml.MappingNode, place: Place) -> Iterator[tuple[str, Any]]:
        seen: set[str] = set()
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.faults.append((key_node.start_mark.line + 1, "a key is one plain word"))
                continue
            key = str(key_node.value)
            if key in seen:
                self.faults.append(
                    (key_node.start_mark.line + 1, f"{key} stands twice; keep one of them")
                )
            seen.add(key)
            yield key, self.value(value_node, (*place, key))

    def _scalar(self, node: yaml.Node, place: Place) -> Any:  # noqa: PLR0911 — one return for each form
        text = str(node.value)
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            self.faults.append((self.lines[place], f"{dotted(place)} holds half a character"))
            return None
        if node.tag == "tag:yaml.org,2002:null":
            return None
        if node.tag == "tag:yaml.org,2002:bool" and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if place and place[-1] in DURATIONS:
            return self._duration(text, place)
        if place and str(place[-1]).endswith("_usd") and not _MONEY.fullmatch(text):
            said = f"{dotted(place)} is {text[:40]!r}; write an amount in digits, like 50000.00"
            self.faults.append((self.lines[place], said))
            return None
        if node.tag == "tag:yaml.org,2002:int" and text.isdecimal() and len(text) <= _MOST_DIGITS:
            return int(text)
        return text

    def _duration(self, text: str, place: Place) -> str:
        match = _DURATION.match(text)
        if match is None or len(text) > _MOST_DIGITS:
            self.faults.append(
                (
                    self.lines[place],
                    (
                        f"{dotted(place)} is {text!r}; write a whole number and s, m, h, d or w,"
                        " like 30m or 24h"
                    ),
                )
            )
            return "PT1H"
        length = timedelta(**{_UNITS[match[2]]: int(match[1])})
        return f"PT{int(length.total_seconds())}S"


_TOO_MUCH = "this is nested too deeply or repeats too much; write it out without aliases"


def dotted(place: Place) -> str:
    """Return a place as people write it: approval.tiers[1].needed."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".") or "the file"


def _composed(text: str) -> tuple[yaml.MappingNode | None, list[tuple[int, str]]]:
    """Return the file's tree, or why there is none."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except RecursionError:
        return None, [(1, _TOO_MUCH)]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        return None, [((mark.line + 1) if mark else 1, f"this is not YAML: {problem}")]
    if not isinstance(node, yaml.MappingNode):
        return None, [(1, "the file holds no keys; `gpubot config example` prints a full one")]
    return node, []


def parse_configuration(text: str) -> tuple[Configuration | None, list[tuple[int, str]]]:
    """Return the configuration, or None and what is wrong with it as (line, sentence)."""
    node, faults = _composed(text)
    if node is None:
        return None, faults
    reading = _Reading()
    try:
        data = reading.value(node, ())
    except _EndlessError as endless:
        return None, [(endless.line, _TOO_MUCH)]
    try:
        configuration = Configuration.model_validate_json(json.dumps(data))
    except ValidationError as error:
        told = {line for line, _ in reading.faults}
        others = (fault for fault in _faults(error, reading.lines) if fault[0] not in told)
        return None, sorted([*reading.faults, *others])
    if reading.faults:
        return None, sorted(reading.faults)
    return configuration, sorted(_beyond(configuration, reading.lines))


def problems_in(path: Path) -> list[str]:
    """Return everything that is wrong with the file, one line each; empty when it is sound."""
    return _read(path)[1]


def read_configuration(path: Path) -> Configuration:
    """Return the administrator's file.

    Raises:
        SettingsError: something is wrong; the line names file, line, key and what to write.
    """
    configuration, problems = _read(path)
    if configuration is None or problems:
        more = f" (and {len(problems) - 1} more: gpubot config check {path})"
        raise SettingsError(problems[0] + (more if len(problems) > 1 else ""))
    return configuration


def _read(path: Path) -> tuple[Configuration | None, list[str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = f"{path}: cannot be read ({_reason(error)}); name a YAML file in GPUBOT_CONFIG"
        return None, [reason]
    configuration, faults = parse_configuration(text)
    return configuration, [f"{path}:{line}: {fault}" for line, fault in faults]


def _reason(error: Exception) -> str:
    return error.strerror or "error" if isinstance(error, OSError) else "it is not UTF-8 text"


def _faults(error: ValidationError, lines: Mapping[Place, int]) -> Iterator[tuple[int, str]]:
    found = error.errors(include_url=False)
    deeper = {tuple(fault["loc"][:size]) for fault in found for size in range(len(fault["loc"]))}
    for fault in found:
        if fault["type"] == "too_short" and tuple(fault["loc"]) in deeper:
            continue  # an entry that is wrong is told of itself
        place = _known(tuple(fault["loc"]), lines)
        line = lines.get(place, 1)
        name = dotted(tuple(fault["loc"]) if fault["type"] == "missing" else place)
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            yield line, f"{name} is not a key here{_nearest(str(fault['loc'][-1]))}"
        elif fault["type"] == "missing":
            yield lines.get(place, 1), f"{name} is missing; add it"
        elif fault["type"] == "string_type":
            yield line, f"{name} must be text; write it in quotes"
        elif fault["type"] == "string_pattern_mismatch":
            yield line, f"{name} is {str(fault['input'])[:40]!r}; {_form(place)}"
        elif fault["type"].endswith("_parsing") or fault["type"].endswith("_type"):
            yield line, f"{name} must be {_KIND.get(fault['type'].split('_')[0], message)}"
        else:
            yield line, f"{name}: {message}"


_KIND = {
    "int": "a whole number, like 2",
    "decimal": 'an amount in digits, like "50000.00"',
    "tuple": "a list, in [ ] or with a dash before each entry",
    "bool": "true or false",
    "model": "keys and values, indented under it",
    "dict": "keys and values, indented under it",
}
_FORMS = {
    "account_id": "write the twelve digits of an AWS account, in quotes",
    "requests": "write a channel's id, like C0GPU",
    "approvals": "write a channel's id, like C0GPU",
    "digest": "write a channel's id, like C0GPU",
    "at": 'write a time of day, like "09:00"',
    "name": "write a short name of letters, digits and dashes",
    "organization": "write the organization's id, like o-a1b2c3d4e5",
}


def _form(place: Place) -> str:
    """Return how a value is written that did not have its form."""
    names = [part for part in place if isinstance(part, str)]
    return _FORMS.get(names[-1] if names else "", "write a Slack id, like U0ANA for a person")


def _known(place: tuple[Any, ...], lines: Mapping[Place, int]) -> Place:
    # Unions put their member's name into the place; the longest known start is what was written.
    kept: list[str | int] = []
    for part in place:
        if (*kept, part) in lines:
            kept.append(part)
    return tuple(kept)


def _nearest(key: str) -> str:
    keys = sorted({name for model in MODELS for name in model.model_fields})
    near = get_close_matches(key, keys, n=1)
    return f"; did you mean {near[0]}?" if near else "; remove it"


def _beyond(configuration: Configuration, lines: Mapping[Place, int]) -> Iterator[tuple[int, str]]:
    """Yield what no single value shows: zones that do not exist, accounts that nothing names."""
    yield from _strangers(configuration, lines)
    yield from _unknown_to_aws(configuration, lines)
    try:
        ZoneInfo(configuration.digest.zone)
    except (ZoneInfoNotFoundError, ValueError):
        yield (
            lines.get(("digest", "zone"), 1),
            f"digest.zone is {configuration.digest.zone!r}; write an IANA name like Europe/Berlin",
        )


def _unknown_to_aws(
    configuration: Configuration, lines: Mapping[Place, int]
) -> Iterator[tuple[int, str]]:
    """Yield Regions and platforms that AWS does not have; a platform is final at purchase."""
    for at, account in enumerate(configuration.accounts):
        place: Place = ("accounts", at)
        named: list[tuple[Place, str]] = [
            ((*place, "regions", number), name) for number, name in enumerate(account.regions)
        ]
        for key in ("launch_templates", "event_queues"):
            named += [((*place, key, name), name) for name in getattr(account, key)]
        for where, name in named:
            if name not in region_names():
                mend = _alike(name, region_names(), "a Region's code, like us-east-1")
                yield lines.get(where, 1), f"{dotted(where)}: AWS has no Region {name!r}; {mend}"
        if account.platform not in platforms():
            where = (*place, "platform")
            mend = _alike(account.platform, platforms(), "AWS's own word, like Linux/UNIX")
            yield (
                lines.get(where, 1),
                f"{dotted(where)} is {account.platform[:40]!r}, which AWS does not know; {mend}",
            )


def _alike(name: str, known: Collection[str], form: str) -> str:
    """Return the nearest of the known names as a question, else how one is written."""
    folded = {one.casefold(): one for one in known}
    near = get_close_matches(name.casefold(), list(folded), n=5)
    # Two letters that changed places are the likeliest slip: esat is east before it is west.
    near.sort(key=lambda one: sorted(one) != sorted(name.casefold()))
    return f"did you mean {folded[near[0]]}?" if near else f"write {form}"


def _strangers(
    configuration: Configuration, lines: Mapping[Place, int]
) -> Iterator[tuple[int, str]]:
    """Yield the names of accounts that are none, and shares that AWS would never allow."""
    known = {account.name: account for account in configuration.accounts}
    for at, team in enumerate(configuration.teams):
        place: Place = ("teams", at, "account")
        if team.account is not None and team.account not in known:
            yield lines.get(place, 1), _unknown_account(place, team.account, known)
    for at, account in enumerate(configuration.accounts):
        for number, name in enumerate(account.shares_with):
            place = ("accounts", at, "shares_with", number)
            line = lines.get(place, 1)
            if name not in known:
                yield line, _unknown_account(place, name, known)
            elif name == account.name:
                yield line, f"{dotted(place)} is the account itself; remove it"
            elif len({account.organization, known[name].organization} - {None}) > 1:
                yield (
                    line,
                    (
                        f"{dotted(place)} is {name!r} of another organization; AWS shares capacity"
                        " inside one organization only, so remove it"
                    ),
                )


def _unknown_account(place: Place, name: str, known: Mapping[str, Account]) -> str:
    near = get_close_matches(name, list(known), n=1)
    mend = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known))}"
    return f"{dotted(place)} is {name!r}, but no account is called that; {mend}"
