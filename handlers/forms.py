"""The two forms: a request, and the reason for a denial. Both end as words that are parsed.

A form never decides anything: what was typed in it becomes one line of the command language,
and a complaint about some words of that line stands under the field they came from.
"""

from collections.abc import Mapping

from bot.domain.base import Model
from bot.domain.request import Parsed, Request, Target
from bot.domain.values import money_text, plain_text, rate_text, utc_text
from handlers import ids
from handlers.rendering import cut, label, one_line
from handlers.reply import Block

WHAT, LENGTH, WHEN, BUDGET, WHERE, TARGET, SPOT, USE, TEAM, REASON = (
    "what",
    "length",
    "when",
    "budget",
    "where",
    "target",
    "spot",
    "use",
    "team",
    "reason",
)
VALUE = "value"
DENIAL = "denial"
MOST_FIELD_ERROR = 300
MOST_REASON = 500

_TARGETS = {
    Target.EC2: "EC2 machines",
    Target.TRAINING_JOB: "SageMaker training job",
    Target.HYPERPOD: "SageMaker HyperPod cluster",
    Target.ENDPOINT: "SageMaker endpoint",
    Target.STUDIO: "SageMaker Studio",
}
_SPOT = {"yes": "May be interrupted (Spot is fine)", "no": "Must not be interrupted"}

FIELD_OF = {
    "instance_type": WHAT,
    "instance_count": WHAT,
    "minimum_count": WHAT,
    "accelerator": WHAT,
    "accelerator_count": WHAT,
    "ultraserver_type": WHAT,
    "duration_hours": LENGTH,
    "earliest_start": WHEN,
    "latest_start": WHEN,
    "latest_end": WHEN,
    "max_total_usd": BUDGET,
    "max_hourly_usd": BUDGET,
    "regions": WHERE,
    "target": TARGET,
    "interruptible": SPOT,
    "utilization": USE,
    "team": TEAM,
    "reason": REASON,
}
"""Which field of the form a field of the request is typed in."""


class FormContext(Model):
    """What a form remembers of where it was opened; it comes back as it was sent, unproved."""

    channel: str | None = None
    zone: str = "UTC"
    locale: str = "en-US"
    reservation: int | None = None
    proposal: int | None = None


def request_form(context: FormContext, request: Request | None) -> dict[str, object]:
    """Return the form for a request, filled with the given one."""
    start = _typed(request) if request is not None else {}
    blocks: list[Block] = [
        _text(WHAT, "Machines", "16xH100 or 2 p5.48xlarge", start, optional=False),
        _text(LENGTH, "How long", "3 days", start, optional=False),
        _text(WHEN, "When", "from Monday 9am · by Friday · empty: as soon as possible", start),
        _text(BUDGET, "At most", "$15k in all, or $40/h for each machine", start),
        _menu(TARGET, "Used as", {str(k): v for k, v in _TARGETS.items()}, start),
        _menu(SPOT, "Interruption", _SPOT, start),
        _text(WHERE, "Regions", "us-east-1, us-west-2 · empty: any allowed", start),
        _text(USE, "Share of the time in use", "60%", start),
        _text(TEAM, "Team", "vision", start),
        _text(REASON, "Reason", "What the approvers should know", start, most=MOST_REASON),
    ]
    return {
        "type": "modal",
        "callback_id": ids.REQUEST_VIEW,
        "private_metadata": context.model_dump_json(exclude_defaults=True),
        "title": label("GPU capacity", most=24),
        "submit": label("Change" if context.reservation else "Request", most=24),
        "close": label("Close", most=24),
        "blocks": blocks,
    }


def denial_form(context: FormContext, *, name: str) -> dict[str, object]:
    """Return the form that asks an approver why not."""
    block = _text(DENIAL, f"Why not {name}?", "The requester reads this", {}, optional=False)
    return {
        "type": "modal",
        "callback_id": ids.DENY_VIEW,
        "private_metadata": context.model_dump_json(exclude_defaults=True),
        "title": label("Deny", most=24),
        "submit": label("Deny", most=24),
        "close": label("Back", most=24),
        "blocks": [block],
    }


def line_of(values: Mapping[str, str | None]) -> tuple[str, dict[str, tuple[int, int]]]:
    """Return the form as one line after /gpu, and which span of it each field became."""
    line = "reserve"
    spans: dict[str, tuple[int, int]] = {}
    for field, text in _parts(values):
        spans[field] = (len(line) + 1, len(line) + 1 + len(text))
        line = f"{line} {text}"
    return line, spans


def complaints(parsed: Parsed, spans: Mapping[str, tuple[int, int]]) -> dict[str, str]:
    """Return what is wrong under the fields it concerns; empty when the line is understood."""
    if parsed.problem is None:
        return {}
    at = parsed.problem.at or (0, 0)
    touched = [
        name for name, (start, end) in spans.items() if at[0] < end and start < max(at[1], 1)
    ]
    return {touched[0] if touched else WHAT: cut(parsed.problem.message, MOST_FIELD_ERROR)}


def _parts(values: Mapping[str, str | None]) -> list[tuple[str, str]]:
    given = {name: one_line(value) for name, value in values.items() if value and value.strip()}
    parts = []
    for name in (WHAT, LENGTH, WHEN, BUDGET, TARGET, SPOT, WHERE, USE, TEAM, REASON):
        text = given.get(name)
        if text is not None:
            parts.append((name, _words(name, text)))
    return parts


def _words(name: str, text: str) -> str:
    """Return a field's text as a part of the line."""
    if name == LENGTH and text[:1].isdigit():
        return f"for {text}"
    if name == BUDGET and not text[:1].isalpha() and "/" not in text:
        return f"under {text}"
    if name == WHERE:
        return f"in {text}" if "," in text else f"region={text}"
    if name == REASON:
        return 'reason="' + text.replace('"', "'") + '"'
    return f"{name}={text}" if name in (TARGET, SPOT, USE, TEAM) else text


def _typed(request: Request) -> dict[str, str]:
    """Return what somebody would type into each field for this request."""
    typed = {
        WHAT: _what(request),
        LENGTH: _length(request),
        WHEN: _when(request),
        BUDGET: _budget(request),
        TARGET: str(request.target) if request.target is not None else "",
        SPOT: {True: "yes", False: "no", None: ""}[request.interruptible],
        WHERE: ", ".join(request.regions),
        USE: f"{rate_text(request.utilization * 100)}%" if request.utilization else "",
        TEAM: request.team or "",
        REASON: request.reason or "",
    }
    return {name: text for name, text in typed.items() if text}


def _what(request: Request) -> str:
    if request.ultraserver_type is not None:
        return request.ultraserver_type
    if request.instance_type is not None:
        some = f"at least {request.minimum_count} of " if request.minimum_count else ""
        return f"{some}{request.instance_count or 1} {request.instance_type}"
    if request.accelerator is not None:
        return f"{request.accelerator_count or ''}x{request.accelerator}"
    return ""


def _length(request: Request) -> str:
    if request.duration_hours is None:
        return ""
    least = "at least " if request.strict else ""
    return f"{least}{plain_text(request.duration_hours)}h"


def _when(request: Request) -> str:
    parts = []
    if request.earliest_start is not None:
        fixed = request.latest_start is not None
        word = "from" if fixed else "after"
        parts.append(f"{word} {utc_text(request.earliest_start)}")
    if request.latest_end is not None:
        parts.append(f"by {utc_text(request.latest_end)}")
    return " ".join(parts)


def _budget(request: Request) -> str:
    parts = []
    if request.max_total_usd is not None:
        parts.append(f"under ${money_text(request.max_total_usd)}")
    if request.max_hourly_usd is not None:
        parts.append(f"max ${plain_text(request.max_hourly_usd)}/h")
    return " ".join(parts)


def _text(
    name: str,
    title: str,
    example: str,
    start: Mapping[str, str],
    *,
    optional: bool = True,
    most: int = 300,
) -> Block:
    element: Block = {
        "type": "plain_text_input",
        "action_id": VALUE,
        "max_length": most,
        "placeholder": label(example, most=150),
    }
    if name in start:
        element["initial_value"] = cut(start[name], most)
    return _input(name, title, element, optional=optional)


def _menu(name: str, title: str, choices: Mapping[str, str], start: Mapping[str, str]) -> Block:
    options: list[Block] = [
        {"text": label(text), "value": value} for value, text in choices.items()
    ]
    element: Block = {"type": "static_select", "action_id": VALUE, "options": options}
    chosen = [option for option in options if option["value"] == start.get(name)]
    if chosen:
        element["initial_option"] = chosen[0]
    return _input(name, title, element, optional=True)


def _input(name: str, title: str, element: Block, *, optional: bool) -> Block:
    return {
        "type": "input",
        "block_id": name,
        "label": label(title),
        "optional": optional,
        "element": element,
    }
