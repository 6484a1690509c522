"""What a person does to an element, in the words of Slack's payloads."""

from typing import Any

from sandbox.slack.blocks import elements_of, options_of
from sandbox.slack.errors import ActError

Json = dict[str, Any]

# How each element's value is named in actions and state:
# docs.slack.dev, "block_actions payload" and "view interactions payload".
SINGLE_VALUE = {
    "plain_text_input": "value",
    "number_input": "value",
    "email_text_input": "value",
    "url_text_input": "value",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "datetimepicker": "selected_date_time",
    "users_select": "selected_user",
    "conversations_select": "selected_conversation",
    "channels_select": "selected_channel",
}
MANY_VALUES = {
    "multi_users_select": "selected_users",
    "multi_conversations_select": "selected_conversations",
    "multi_channels_select": "selected_channels",
}
ONE_OPTION = {"static_select", "radio_buttons", "overflow", "external_select"}
MANY_OPTIONS = {"multi_static_select", "checkboxes", "multi_external_select"}
INITIAL = {
    "value": "initial_value",
    "selected_date": "initial_date",
    "selected_time": "initial_time",
    "selected_date_time": "initial_date_time",
    "selected_user": "initial_user",
    "selected_conversation": "initial_conversation",
    "selected_channel": "initial_channel",
    "selected_users": "initial_users",
    "selected_conversations": "initial_conversations",
    "selected_channels": "initial_channels",
    "selected_option": "initial_option",
    "selected_options": "initial_options",
}


def find_element(blocks: list[Json], action_id: str, value: str | None) -> tuple[Json, Json] | None:
    """The block and the element with this action id; `value` tells apart buttons alike."""
    found = [
        (block, element)
        for block in blocks
        for element in elements_of(block)
        if element.get("action_id") == action_id
    ]
    if value is not None:
        exact = [pair for pair in found if value in _values(pair[1])]
        buttons = [pair for pair in found if pair[1]["type"] == "button"]
        if exact or (found and len(buttons) == len(found)):
            found = exact
    return found[0] if found else None


def _values(element: Json) -> list[Any]:
    return [element.get("value"), *(option.get("value") for option in options_of(element))]


def action_of(block: Json, element: Json, value: Any, action_ts: str) -> Json:
    """One entry of `actions` for what the person did.

    Raises:
        ActError: when the element has no such choice.
    """
    action: Json = {
        "action_id": element["action_id"],
        "block_id": block["block_id"],
        "type": element["type"],
        "action_ts": action_ts,
    }
    if element["type"] == "button":
        action["text"] = element["text"]
        if "value" in element:
            action["value"] = element["value"]
        return action
    if value is None:
        raise ActError(f"{element['action_id']} is a {element['type']}: say which value")
    return action | state_of(element, value)


def state_of(element: Json, value: Any) -> Json:
    """The element's entry in `state.values` once `value` is in it; None empties it.

    Raises:
        ActError: when it offers no such option.
    """
    kind = element["type"]
    entry: Json = {"type": kind}
    if kind in SINGLE_VALUE:
        entry[SINGLE_VALUE[kind]] = value
    elif kind in MANY_VALUES:
        entry[MANY_VALUES[kind]] = _as_list(value)
    elif kind in ONE_OPTION:
        entry["selected_option"] = None if value is None else _option(element, value)
    elif kind in MANY_OPTIONS:
        entry["selected_options"] = [_option(element, one) for one in _as_list(value)]
    else:
        raise ActError(f"a {kind} cannot be filled here")
    return entry


def initial_state(element: Json) -> Json | None:
    """What an untouched element reports, or None when it reports nothing (buttons)."""
    kind = element["type"]
    key = SINGLE_VALUE.get(kind) or MANY_VALUES.get(kind)
    if kind in ONE_OPTION - {"overflow"}:
        key = "selected_option"
    elif kind in MANY_OPTIONS:
        key = "selected_options"
    if key is None:
        return None
    many = key in {"selected_options", *MANY_VALUES.values()}
    return {"type": kind, key: element.get(INITIAL[key], [] if many else None)}


def initial_values(blocks: list[Json]) -> Json:
    """`state.values` of blocks that nobody has touched."""
    values: Json = {}
    for block in blocks:
        for element in elements_of(block):
            entry = initial_state(element)
            if entry is not None:
                values.setdefault(block["block_id"], {})[element["action_id"]] = entry
    return values


def is_empty(entry: Json) -> bool:
    """Whether a state entry holds nothing."""
    return all(value in (None, "", []) for key, value in entry.items() if key != "type")


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _option(element: Json, value: Any) -> Json:
    wanted = value.get("value") if isinstance(value, dict) else value
    for option in options_of(element):
        if option.get("value") == wanted:
            return option
    offered = [option.get("value") for option in options_of(element)]
    raise ActError(f"{element['action_id']} offers {offered}, not {wanted!r}")
