"""The two forms: a request, and the reason for a denial. Both end as words that are parsed.

A form never decides anything: what was typed in it becomes one line of the command language,
and a complaint about some words of that line stands under the field they came from.
"""

from collections.abc import Mapping
from functools import partial

from bot import language
from bot.domain.base import Model
from bot.domain.request import Parsed, Request, Target
from handlers import ids
from handlers.cards.phrases import say
from handlers.rendering import cut, label, one_line
from handlers.reply import Block

WHAT, LENGTH, WHEN, BUDGET, WHERE, TARGET, SPOT, USE, TEAM, OTHER, REASON = (
    "what",
    "length",
    "when",
    "budget",
    "where",
    "target",
    "spot",
    "use",
    "team",
    "other",
    "reason",
)
VALUE = "value"
DENIAL = "denial"
WORDS = "words"
MOST_FIELD_ERROR = 300
MOST_REASON = 500

_TARGETS = {
    Target.EC2: "EC2 machines",
    Target.TRAINING_JOB: "SageMaker training job",
    Target.HYPERPOD: "SageMaker HyperPod cluster",
    Target.ENDPOINT: "SageMaker endpoint",
    Target.STUDIO: "SageMaker Studio",
}

_MACHINES = (
    "instance_type",
    "instance_count",
    "minimum_count",
    "accelerator",
    "accelerator_count",
    "ultraserver_type",
)


class FormContext(Model):
    """What a form remembers of where it was opened; it comes back as it was sent, unproved."""

    channel: str | None = None
    zone: str = "UTC"
    locale: str = "en-US"
    reservation: int | None = None
    proposal: int | None = None
    question: int | None = None


def request_form(context: FormContext, request: Request | None) -> dict[str, object]:
    """Return the form for a request, filled with the given one."""
    start = _typed(request, context.zone) if request is not None else {}
    said = partial(say, locale=context.locale)
    spot = {"yes": said("spot_yes"), "no": said("spot_no")}
    blocks: list[Block] = [
        _text(WHAT, said(WHAT), said("eg_what"), start, optional=False),
        _text(LENGTH, said(LENGTH), said("eg_length"), start, optional=False),
        _text(WHEN, said(WHEN), said("eg_when"), start),
        _text(BUDGET, said(BUDGET), said("eg_budget"), start),
        _menu(TARGET, said(TARGET), {str(k): v for k, v in _TARGETS.items()}, start),
        _menu(SPOT, said(SPOT), spot, start),
        _text(WHERE, said(WHERE), "us-east-1, us-west-2", start),
        _text(USE, said(USE), "60%", start),
        _text(TEAM, said(TEAM), "vision", start),
        _text(OTHER, said(OTHER), "platform=Ubuntu-Pro", start),
        _text(REASON, said(REASON), said("eg_reason"), start, most=MOST_REASON),
    ]
    return {
        "type": "modal",
        "callback_id": ids.REQUEST_VIEW,
        "private_metadata": context.model_dump_json(exclude_defaults=True),
        "title": label(said("form_title"), most=24),
        "submit": label(said("form_change" if context.reservation else "form_send"), most=24),
        "close": label(said("form_close"), most=24),
        "blocks": blocks,
    }


def denial_form(context: FormContext, *, name: str) -> dict[str, object]:
    """Return the form that asks an approver why not."""
    said = partial(say, locale=context.locale)
    block = _text(DENIAL, said("why_not", name=name), "…", {}, optional=False, most=MOST_REASON)
    return {
        "type": "modal",
        "callback_id": ids.DENY_VIEW,
        "private_metadata": context.model_dump_json(exclude_defaults=True),
        "title": label(said("deny"), most=24),
        "submit": label(said("deny"), most=24),
        "close": label(said("form_close"), most=24),
        "blocks": [block],
    }


def words_form(context: FormContext, *, callback: str, question: str) -> dict[str, object]:
    """Return a form with one text under a question."""
    said = partial(say, locale=context.locale)
    return {
        "type": "modal",
        "callback_id": callback,
        "private_metadata": context.model_dump_json(exclude_defaults=True),
        "title": label(said("form_title"), most=24),
        "submit": label(said("form_send_words"), most=24),
        "close": label(said("form_close"), most=24),
        "blocks": [_text(WORDS, question, "…", {}, optional=False, most=MOST_REASON)],
    }


def sentence_of(values: Mapping[str, str | None]) -> tuple[str, dict[str, tuple[int, int]]]:
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
    for name in (WHAT, LENGTH, WHEN, BUDGET, TARGET, SPOT, WHERE, USE, TEAM, OTHER, REASON):
        text = given.get(name)
        if text is not None:
            parts.append((name, _words(name, text)))
    return parts


def _words(name: str, text: str) -> str:
    """Return a field's text as a part of the line; what already reads as one stays."""
    bare = text[:1].isdigit()
    if name == LENGTH and bare:
        return f"for {text}"
    if name == BUDGET and not text[:1].isalpha() and "/" not in text:
        return f"under {text}"
    if name == USE and bare:
        return f"use={text}"
    if name == WHERE and not text.lower().startswith(("in ", "any", "em ", "en ", "region")):
        return f"in {text}"
    if name in (TEAM, REASON):
        return f"{name}={language.quoted(text)}"
    return f"{name}={text}" if name in (TARGET, SPOT) else text


def _typed(request: Request, zone: str) -> dict[str, str]:
    """Return what somebody in that zone would type into each field for this request."""

    def said(*names: str) -> str:
        part = Request.model_validate({name: getattr(request, name) for name in names})
        return language.line_of(part, command="", zone=zone).strip()

    typed = {
        WHAT: said(*_MACHINES),
        LENGTH: said("duration_hours", "strict").removeprefix("for "),
        WHEN: said("earliest_start", "latest_start", "latest_end"),
        BUDGET: said("max_total_usd", "max_hourly_usd"),
        TARGET: str(request.target) if request.target is not None else "",
        SPOT: {True: "yes", False: "no", None: ""}[request.interruptible],
        WHERE: ", ".join(request.regions),
        USE: said("utilization"),
        TEAM: request.team or "",
        OTHER: said("owner", "channel", "platform"),
        REASON: request.reason or "",
    }
    return {name: text for name, text in typed.items() if text}


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
