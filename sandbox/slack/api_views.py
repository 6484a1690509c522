"""views.* methods."""

from typing import Any

from sandbox.slack.arguments import required
from sandbox.slack.blocks import check_view
from sandbox.slack.errors import SlackError
from sandbox.slack.workspace import Workspace

Json = dict[str, Any]


def views_open(workspace: Workspace, arguments: Json) -> Json:
    """views.open: a modal for the person behind the trigger id."""
    view = required(arguments, "view")
    check_view(view, "modal")
    user = workspace.triggers.exchange(_trigger(arguments))
    return {"view": workspace.views.open(user, view).shown()}


def views_push(workspace: Workspace, arguments: Json) -> Json:
    """views.push: a modal on top of the open one."""
    view = required(arguments, "view")
    check_view(view, "modal")
    user = workspace.triggers.exchange(_trigger(arguments))
    return {"view": workspace.views.push(user, view).shown()}


def views_update(workspace: Workspace, arguments: Json) -> Json:
    """views.update, by view id or external id, guarded by `hash` when it is given."""
    view_id, external_id = arguments.get("view_id"), arguments.get("external_id")
    if not view_id and not external_id:
        raise SlackError("invalid_arguments", "[ERROR] view_id or external_id is required")
    body = required(arguments, "view")
    changed = workspace.views.update(view_id, external_id, body, arguments.get("hash"))
    return {"view": changed.shown()}


def views_publish(workspace: Workspace, arguments: Json) -> Json:
    """views.publish: a person's Home tab."""
    person = workspace.person(required(arguments, "user_id"))
    body = required(arguments, "view")
    return {"view": workspace.views.publish(person.id, body, arguments.get("hash")).shown()}


def _trigger(arguments: Json) -> str:
    return str(required(arguments, "trigger_id"))


METHODS = {
    "views.open": views_open,
    "views.push": views_push,
    "views.update": views_update,
    "views.publish": views_publish,
}
