"""manifest.yml is what the code registers, with no more rights than it uses."""

import json
import re
from pathlib import Path

import yaml
from jsonschema import Draft7Validator

from handlers import ids

ROOT = Path(__file__).parents[2]
MANIFEST = yaml.safe_load((ROOT / "manifest.yml").read_text())

USES = {
    "commands": "app.command",
    "chat:write": "chat_postMessage",
    "users:read": "users_info",
    "usergroups:read": "usergroups_users_list",
    "channels:history": "conversations_history",
    "groups:history": "conversations_history",
    "im:history": "conversations_history",
    "im:write": "conversations_open",
}


def source() -> str:
    return "".join(path.read_text() for path in (ROOT / "handlers").rglob("*.py"))


def test_the_manifest_fits_slacks_own_schema():
    schema = json.loads((ROOT / "tests/data/slack/manifest.schema.2.0.0.json").read_text())
    assert [error.message for error in Draft7Validator(schema).iter_errors(MANIFEST)] == []


def test_the_commands_are_those_that_are_registered(office):
    listed = [command["command"] for command in MANIFEST["features"]["slash_commands"]]
    assert listed == [ids.COMMAND]
    assert all(command["should_escape"] for command in MANIFEST["features"]["slash_commands"])
    assert office.command("list") == (200, "")


def test_every_scope_has_a_call_that_needs_it():
    scopes = MANIFEST["oauth_config"]["scopes"]
    assert set(scopes) == {"bot"}
    assert set(scopes["bot"]) == set(USES)
    for scope, call in USES.items():
        assert call in source(), scope


def test_every_web_api_method_that_is_called_is_covered_by_a_scope():
    free = {"auth_test", "views_open", "views_publish"}
    covered = {*USES.values(), "chat_update", "chat_postEphemeral", "conversations_replies"}
    called = set(re.findall(r"self\.(?:client|posting|reading)\.([a-z]+_\w+)", source()))
    assert called - {"socket_mode_request_listeners", "is_connected"} <= free | covered


def test_the_events_are_those_that_are_listened_to():
    events = MANIFEST["settings"]["event_subscriptions"]["bot_events"]
    assert events == re.findall(r'app\.event\("(\w+)"\)', source())


def test_tokens_do_not_rotate():
    assert MANIFEST["settings"]["token_rotation_enabled"] is False
    assert MANIFEST["settings"]["socket_mode_enabled"] is True
