"""What a journey left behind, in AWS's books, the bot's own, and the channels: to be compared.

Ids and times that differ from run to run are left out; everything that costs money or is read by
somebody is in.
"""

import contextlib
import json
import re
import sqlite3
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sandbox.slack.people import BOT_USER_ID
from tests.system.kills.town import Town

OWN_ID = re.compile(r"gpubot-[0-9a-f]{10}-\d+-\d+-\d+")
AWS_ID = re.compile(r"\b(cr|cb|cbr|tp)-[0-9a-f]{8,17}\b")
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")

QUERIES = {
    "reservations": "select id, state from reservation",
    "proposals": "select id, reservation_id, state from proposal",
    "approvals": "select proposal_id, approver, json_extract(body, '$.verdict') from approval",
    "purchases": "select reservation_id, leg, state from purchase where state <> 'withdrawn'",
    "receipts": "select reservation_id, json_extract(body, '$.state') from receipt",
    "budget": "select purchase_key, team, amount, state from budget",
    "loans": "select reservation_id, count from loan",
    "open duties": "select kind, subject, count(*) from due where state = 'open' group by 1, 2",
    "unsaid": "select key, state, error from outbox where state <> 'sent'",
    "unread": "select id, state from inbox where state <> 'done'",
}
BEGUN_ANEW = frozenset(
    {"reservation.quoted", "purchase.intended", "purchase.withdrawn", "purchase.indeterminate"}
)
"""What the audit may hold more of after a kill: each new beginning is written down."""


@dataclass(frozen=True)
class Books:
    """One journey's end."""

    sold: list[dict[str, Any]]
    kept: dict[str, list[tuple[Any, ...]]]
    audit: list[tuple[str, str]]
    said: dict[tuple[str, str], list[str]]
    whispered: Counter[tuple[str, str]]
    purchases_sent: int


def books_of(place: Town) -> Books:
    with contextlib.closing(sqlite3.connect(place.database)) as database:
        kept = {name: sorted(database.execute(sql).fetchall()) for name, sql in QUERIES.items()}
        audit = database.execute("select actor, action from audit order by id").fetchall()
        check_chain(database)
    calls = place.aws.calls("PurchaseCapacityBlock")
    return Books(
        sold=[sale_of(row) for row in place.aws.sold()],
        kept=kept,
        audit=audit,
        said=said_in(place),
        whispered=whispers_in(place),
        purchases_sent=sum(not call["params"].get("DryRun") for call in calls),
    )


def check_chain(database: sqlite3.Connection) -> None:
    """Raise AssertionError unless each audit row names the one before it."""
    rows = database.execute("select previous, hash from audit order by id").fetchall()
    for (_, before), (previous, _) in pairwise(rows):
        assert previous == before, "the audit's chain is broken"


def sale_of(row: dict[str, Any]) -> dict[str, Any]:
    plain = {
        name: value for name, value in row.items() if name not in ("id", "offering_id", "bought_at")
    }
    return json.loads(same_words(json.dumps(plain)))


def same_words(text: str) -> str:
    """A text without what differs from run to run."""
    return AWS_ID.sub(r"\1-…", OWN_ID.sub("gpubot-…", text))


def said_in(place: Town) -> dict[tuple[str, str], list[str]]:
    """What each channel shows, by the message's key."""
    said: dict[tuple[str, str], list[str]] = {}
    for channel in place.workspace.channels:
        for message in place.workspace.messages.kept(channel):
            payload = (message.metadata or {}).get("event_payload", {})
            key = same_words(payload.get("key", f"without a key: {message.text}"))
            under = "" if message.thread_ts is None else "in a thread: "
            said.setdefault((channel, key), []).append(under + same_words(message.text))
    return said


def whispers_in(place: Town) -> Counter[tuple[str, str]]:
    """What single persons were told by the bot, and how often."""
    return Counter(
        (message.only_for, same_words(message.text))
        for channel in place.workspace.channels
        for user in place.workspace.people
        for message in place.workspace.messages.visible(channel, user)
        if message.only_for == user and message.user == BOT_USER_ID
    )
