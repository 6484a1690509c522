"""Whether Slack would take these blocks: schemas, ids, surfaces and limits over a payload.

Limits: docs.slack.dev, "Block Kit blocks" and npm @slack/types 3.2.0, read in November 2026.
"""

import functools
import json
from collections.abc import Iterator
from importlib import resources
from typing import Any, Literal

from jsonschema import Draft7Validator
from jsonschema.exceptions import best_match

from sandbox.slack.errors import SlackError

Json = dict[str, Any]
Surface = Literal["message", "modal", "home"]

MOST_BLOCKS = {"message": 50, "modal": 100, "home": 100}
MOST_VIEW_BYTES = 250_000
MOST_TOGETHER = {"markdown": 12_000, "table": 10_000, "data_table": 20_000}
SURFACES: dict[str, frozenset[str]] = {
    "alert": frozenset({"modal"}),
    "context_actions": frozenset({"message"}),
    "markdown": frozenset({"message"}),
    "data_visualization": frozenset({"message"}),
    "plan": frozenset({"message"}),
    "task_card": frozenset({"message"}),
    "file": frozenset(),
    "table": frozenset({"message", "home"}),
    "data_table": frozenset({"message", "home"}),
    "carousel": frozenset({"message", "home"}),
    "container": frozenset({"message", "home"}),
}


@functools.cache
def _schema() -> Json:
    source = resources.files("sandbox.slack") / "schemas/block-kit.SlackView.limits.schema.json"
    read: Json = json.loads(source.read_text("utf-8"))
    return read


@functools.cache
def _validators() -> dict[str, Draft7Validator]:
    """A validator for each block type, so that a complaint speaks of that type only."""
    definitions: Json = _schema()["definitions"]
    found = {}
    for name in definitions:
        if not name.endswith("Block") or name in {"AnyBlock", "KnownBlock", "Block"}:
            continue
        kind = _constant_type(definitions[name])
        if kind is not None:
            found[kind] = _validator(name)
    return found


def _constant_type(definition: Json) -> str | None:
    """The one value of `type` in a definition or in its first alternative."""
    alternatives = [definition, *definition.get("anyOf", []), *definition.get("allOf", [])]
    for alternative in alternatives:
        kind = alternative.get("properties", {}).get("type", {}).get("const")
        if isinstance(kind, str):
            return kind
    return None


@functools.cache
def _validator(definition: str) -> Draft7Validator:
    return Draft7Validator(
        {"$ref": f"#/definitions/{definition}", "definitions": _schema()["definitions"]}
    )


def check_blocks(blocks: Any, surface: Surface) -> None:
    """Return when Slack would take `blocks` on this surface.

    Raises:
        SlackError: `invalid_blocks` with one line for each fault.
    """
    faults = list(_faults(blocks, surface))
    if faults:
        raise SlackError("invalid_blocks", *(f"[ERROR] {fault}" for fault in faults))


def check_view(view: Any, kind: Literal["modal", "home"]) -> None:
    """Return when Slack would take `view`.

    Raises:
        SlackError: `invalid_arguments`, `view_too_large` or `invalid_blocks`.
    """
    if not isinstance(view, dict) or view.get("type") != kind:
        raise SlackError("invalid_arguments", f"[ERROR] view.type must be {kind} [/view]")
    if len(json.dumps(view).encode()) > MOST_VIEW_BYTES:
        raise SlackError("view_too_large")
    check_blocks(view.get("blocks"), kind)
    name = "ModalView" if kind == "modal" else "HomeView"
    wrong = best_match(_validator(name).iter_errors({**view, "blocks": []}))
    if wrong is not None:
        raise SlackError("invalid_arguments", f"[ERROR] {wrong.message} [/view]")
    if kind == "modal" and "submit" not in view and _has_input(view["blocks"]):
        raise SlackError(
            "invalid_arguments", "[ERROR] submit is required with input blocks [/view]"
        )


def _has_input(blocks: list[Json]) -> bool:
    return any(block["type"] == "input" for block in blocks)


def _faults(blocks: Any, surface: Surface) -> Iterator[str]:
    if not isinstance(blocks, list):
        yield "must be an array [/blocks]"
        return
    if len(blocks) > MOST_BLOCKS[surface]:
        yield f"no more than {MOST_BLOCKS[surface]} items allowed [/blocks]"
    if not blocks and surface != "message":
        yield "must have at least one block [/blocks]"
    for number, block in enumerate(blocks):
        yield from _block_faults(block, f"/blocks/{number}", surface)
    whole = [block for block in blocks if isinstance(block, dict)]
    yield from _repeated((block.get("block_id") for block in whole), "block_id", "/blocks")
    for kind, most in MOST_TOGETHER.items():
        if sum(_characters(block) for block in whole if block.get("type") == kind) > most:
            yield f"{kind} blocks hold more than {most} characters together [/blocks]"


def _block_faults(block: Any, at: str, surface: Surface) -> Iterator[str]:
    kind = block.get("type") if isinstance(block, dict) else None
    validator = _validators().get(kind) if isinstance(kind, str) else None
    if validator is None or not isinstance(kind, str):
        yield f"unsupported type: {kind} [{at}/type]"
        return
    if surface not in SURFACES.get(kind, frozenset(MOST_BLOCKS)):
        yield f"block type {kind} is not allowed in a {surface} [{at}/type]"
    wrong = best_match(validator.iter_errors(block))
    if wrong is not None:
        path = "".join(f"/{part}" for part in wrong.absolute_path)
        yield f"{wrong.message[:300]} [{at}{path}]"
        return
    if block.get("block_id") == "":
        yield f"must be more than 0 characters [{at}/block_id]"
    elements = list(elements_of(block))
    yield from _repeated((element.get("action_id") for element in elements), "action_id", at)
    for element in elements:
        yield from _element_faults(element, at)
    for text in _texts(block):
        if text.get("text") == "":
            yield f"must be more than 0 characters [{at}/text]"


def _repeated(values: Iterator[Any], name: str, at: str) -> Iterator[str]:
    given = [value for value in values if value is not None]
    for value in sorted({str(v) for v in given if given.count(v) > 1}):
        yield f"{name} {value!r} already exists [{at}]"


def _element_faults(element: Json, at: str) -> Iterator[str]:
    options = [option.get("value") for option in options_of(element)]
    if len(options) != len(set(options)):
        yield f"option values must be unique [{at}/options]"
    initial = element.get("initial_option")
    if isinstance(initial, dict) and initial not in options_of(element):
        yield f"initial_option must be one of the options [{at}/initial_option]"
    for chosen in element.get("initial_options", []):
        if chosen not in options_of(element):
            yield f"initial_options must be among the options [{at}/initial_options]"


def _characters(value: Any) -> int:
    """The characters of every `text` inside `value`."""
    if isinstance(value, dict):
        own = value.get("text")
        inner = sum(_characters(v) for v in value.values() if isinstance(v, dict | list))
        return inner + (len(own) if isinstance(own, str) else 0)
    return sum(_characters(v) for v in value) if isinstance(value, list) else 0


def _texts(value: Any) -> Iterator[Json]:
    """Every text object inside `value`."""
    if isinstance(value, dict):
        if value.get("type") in {"plain_text", "mrkdwn"}:
            yield value
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def elements_of(block: Json) -> Iterator[Json]:
    """The interactive elements of a block, in order."""
    candidates = [*block.get("elements", []), block.get("accessory"), block.get("element")]
    candidates += block.get("actions", []) if isinstance(block.get("actions"), list) else []
    for candidate in candidates:
        if isinstance(candidate, dict) and candidate.get("type") not in STILL_ELEMENTS:
            yield candidate


STILL_ELEMENTS = frozenset(
    {
        "image",
        "mrkdwn",
        "plain_text",
        "rich_text_section",
        "rich_text_list",
        "rich_text_quote",
        "rich_text_preformatted",
        "card",
    }
)


def options_of(element: Json) -> list[Json]:
    """The options of a select, overflow, checkbox or radio element, groups opened."""
    grouped = [o for group in element.get("option_groups", []) for o in group["options"]]
    return [*element.get("options", []), *grouped]


def with_ids(blocks: list[Json], fresh: str) -> list[Json]:
    """The blocks with an id on each block and element that had none, as Slack adds them."""
    filled = []
    for number, block in enumerate(blocks):
        own = json.loads(json.dumps(block))
        own.setdefault("block_id", f"{fresh}{number}")
        for place, element in enumerate(elements_of(own)):
            element.setdefault("action_id", f"{fresh}{number}.{place}")
        filled.append(own)
    return filled
