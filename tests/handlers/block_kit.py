"""Whether Slack would take blocks or a view, by outside schemas and the limits they lack."""

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator
from jsonschema.exceptions import best_match

SCHEMA = Path(__file__).parents[1] / "data/slack/block-kit.SlackView.limits.schema.json"
KINDS = {
    "section": "SectionBlock",
    "context": "ContextBlock",
    "header": "HeaderBlock",
    "actions": "ActionsBlock",
    "input": "InputBlock",
    "rich_text": "RichTextBlock",
}
MOST_IN_A_MESSAGE = 13_000


@functools.cache
def _validator(name: str) -> Draft7Validator:
    definitions = json.loads(SCHEMA.read_text())["definitions"]
    return Draft7Validator({"$ref": f"#/definitions/{name}", "definitions": definitions})


def faults(blocks: list[dict[str, Any]], *, most: int = 50) -> list[str]:
    """Return what Slack would refuse about the blocks of one message."""
    found = list(_faults(blocks))
    if len(blocks) > most:
        found.append(f"{len(blocks)} blocks")
    size = sum(len(text["text"]) for block in blocks for text in texts(block))
    if size >= MOST_IN_A_MESSAGE:
        found.append(f"{size} characters in all")
    return found


def view_faults(view: dict[str, Any]) -> list[str]:
    """Return what Slack would refuse about a modal or Home tab."""
    found = list(_faults(view["blocks"]))
    name = "ModalView" if view["type"] == "modal" else "HomeView"
    wrong = best_match(_validator(name).iter_errors({**view, "blocks": []}))
    return found if wrong is None else [*found, wrong.message]


def _faults(blocks: list[dict[str, Any]]) -> Iterator[str]:
    for block in blocks:
        wrong = best_match(_validator(KINDS[block["type"]]).iter_errors(block))
        if wrong is not None:
            yield f"{block['type']}: {wrong.message[:200]}"
        names = [element.get("action_id") for element in elements(block)]
        if len(names) != len(set(names)):
            yield f"action_id twice in one block: {names}"
        for text in texts(block):
            if not text["text"]:
                yield "an empty text"
            if text["type"] == "mrkdwn" and text.get("verbatim") is not True:
                yield "mrkdwn that Slack would parse further"
        for element in elements(block):
            values = [option["value"] for option in element.get("options", [])]
            if any(len(value) > 150 for value in values) or len(values) != len(set(values)):
                yield "an option's value is too long or stands twice"


def elements(block: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what can be pressed or filled in a block."""
    found = [*block.get("elements", []), block.get("accessory"), block.get("element")]
    return [one for one in found if isinstance(one, dict) and "action_id" in one]


def texts(value: Any) -> Iterator[dict[str, Any]]:
    """Give every text object in a block."""
    if isinstance(value, dict):
        if value.get("type") in ("plain_text", "mrkdwn"):
            yield value
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
