"""The audit's hash chain: what a link covers, and how a broken one is described."""

import hashlib
import json

from bot.domain.records import AuditEntry
from storage.bodies import time_text

FIRST = "0" * 64
"""What stands before the first entry."""


def link(previous: str, entry: AuditEntry) -> str:
    """Return the hex SHA-256 over the previous hash and the entry's canonical JSON."""
    words = {
        "at": time_text(entry.at),
        "actor": entry.actor,
        "action": entry.action,
        "reservation_id": entry.reservation_id,
        "purchase_id": entry.purchase_id,
        "facts": entry.facts,
    }
    canonical = json.dumps(words, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(f"{previous}\n{canonical}".encode()).hexdigest()


def missing(number: int) -> str:
    """Return the sentence for an entry that is not there."""
    return f"Audit entry {number} is missing."


def changed(number: int) -> str:
    """Return the sentence for an entry whose words do not match its hash."""
    return f"Audit entry {number} was changed after it was written."


def unlinked(number: int) -> str:
    """Return the sentence for an entry that does not follow the one before it."""
    return f"Audit entry {number} does not follow from the entry before it."
