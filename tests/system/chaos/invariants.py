"""What must hold whatever happened: read from AWS's own books, the bot's ledger and the channels.

What people may spend is worked out here anew, from the file and from who really pressed.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import yaml

from sandbox.slack.people import BOT_USER_ID
from tests.system.chaos.world import CONFIG, Place

TAG = "gpubot:purchase"
SLOW = timedelta(minutes=2)
"""A sale may be written down so much later than its call left."""
CHANNELS = ("C0GPU", "C0APPROVE", "D0ANA", "D0LIN", "D0BRUNO", "D0CARLA", "D0DIEGO")
UNCLEAR = ("submitted", "indeterminate")
SPENT = ("confirmed", *UNCLEAR)


@dataclass(frozen=True)
class Ledger:
    """AWS's sales and the bot's rows, read at one moment."""

    place: Place
    rules: dict[str, Any]
    sold: list[dict[str, Any]]
    calls: list[dict[str, Any]]
    purchases: dict[str, dict[str, Any]]
    proposals: dict[int, dict[str, Any]]
    receipts: list[dict[str, Any]]
    audit: list[tuple[Any, ...]]
    budget: dict[str, tuple[Any, ...]]
    outbox: list[tuple[Any, ...]]

    @classmethod
    def of(cls, place: Place) -> "Ledger":
        surface = place.surface
        bodies = place.rows("select id, body from proposal")
        return cls(
            place=place,
            rules=yaml.safe_load(CONFIG.read_text("utf-8")),
            sold=surface.get("/control/aws/sold"),
            calls=surface.get("/control/aws/calls?operation=PurchaseCapacityBlock"),
            purchases={
                row[0]: json.loads(row[1]) for row in place.rows("select id, body from purchase")
            },
            proposals={number: json.loads(body) for number, body in bodies},
            receipts=[json.loads(row[0]) for row in place.rows("select body from receipt")],
            audit=place.rows(
                "select id, at, actor, action, purchase_id, facts, previous, hash"
                " from audit order by id"
            ),
            budget={
                row[0]: row
                for row in place.rows(
                    "select purchase_key, team, amount, state, held_at from budget"
                )
            },
            outbox=place.rows("select key, state, error, announcement from outbox"),
        )

    def of_sale(self, sale: dict[str, Any]) -> dict[str, Any] | None:
        """The purchase that a sale carries as its tag."""
        return self.purchases.get(sale["tags"].get(TAG, ""))

    def leg_of(self, purchase: dict[str, Any]) -> dict[str, Any]:
        legs = self.proposals[purchase["proposal_id"]]["legs"]
        found: dict[str, Any] = next(
            leg for leg in legs if leg["number"] == purchase["leg"]["number"]
        )
        return found

    def tier_of(self, amount: Decimal) -> dict[str, Any] | None:
        tiers: list[dict[str, Any]] = self.rules["approval"]["tiers"]
        return next((tier for tier in tiers if amount <= Decimal(tier["up_to_usd"])), None)


def each_leg_is_sold_at_most_once(books: Ledger) -> Iterator[str]:
    sales = Counter(
        (purchase["reservation_id"], purchase["leg"]["number"])
        for sale in books.sold
        if (purchase := books.of_sale(sale)) is not None
    )
    yield from (f"{leg} was sold {count} times" for leg, count in sales.items() if count > 1)
    sent = Counter(
        tag["Value"]
        for call in books.calls
        if not call["params"].get("DryRun")
        for part in call["params"].get("TagSpecifications", ())
        for tag in part["Tags"]
        if tag["Key"] == TAG
    )
    yield from (f"{name} was sent {count} times" for name, count in sent.items() if count > 1)


def nothing_is_dearer_than_approved(books: Ledger) -> Iterator[str]:
    paid: defaultdict[int, Decimal] = defaultdict(Decimal)
    for sale in books.sold:
        purchase = books.of_sale(sale)
        if purchase is None:
            continue
        fee, approved = Decimal(sale["fee"]), Decimal(books.leg_of(purchase)["fee"])
        paid[purchase["proposal_id"]] += fee
        if fee > approved:
            yield f"{sale['id']} cost {fee}, approved were {approved}"
        if fee != Decimal(purchase["fee"]):
            yield f"{sale['id']} cost {fee}, the ledger says {purchase['fee']}"
    for number, total in paid.items():
        if total > Decimal(books.proposals[number]["ceiling"]):
            yield f"proposal {number} cost {total}, above its ceiling"


def nothing_is_bought_after_expiry(books: Ledger) -> Iterator[str]:
    for sale in books.sold:
        purchase = books.of_sale(sale)
        if purchase is None:
            continue
        limit = datetime.fromisoformat(books.proposals[purchase["proposal_id"]]["expires_at"])
        if datetime.fromisoformat(purchase["submitted_at"]) >= limit:
            yield f"{purchase['id']} was sent at {purchase['submitted_at']}, after {limit}"
        if datetime.fromisoformat(sale["bought_at"]) > limit + SLOW:
            yield f"{sale['id']} was sold at {sale['bought_at']}, after {limit}"


def nothing_is_sent_while_stopped(books: Ledger) -> Iterator[str]:
    stopped = False
    for _, at, _, action, purchase, facts, _, _ in books.audit:
        if action == "switch.set":
            stopped = json.loads(facts)["to"] == "off"
        elif action == "purchase.submitted" and stopped:
            yield f"{purchase} was sent at {at} while purchasing was stopped"


def ceilings_hold(books: Ledger) -> Iterator[str]:
    days: defaultdict[str, Decimal] = defaultdict(Decimal)
    months: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for _, team, amount, state, held_at in books.budget.values():
        if state == "freed":
            continue
        days[held_at[:10]] += Decimal(amount)
        if team is not None:
            months[team, held_at[:7]] += Decimal(amount)
    most = Decimal(books.rules["daily_ceiling_usd"])
    yield from (f"{day}: {total} is over {most}" for day, total in days.items() if total > most)
    for team in books.rules["teams"]:
        limit = Decimal(team["monthly_budget_usd"])
        for (name, month), total in months.items():
            if name == team["name"] and total > limit:
                yield f"{name} in {month}: {total} is over {limit}"
    yield from _money_is_kept(books)


def _money_is_kept(books: Ledger) -> Iterator[str]:
    """What was sold is committed, unless its payment failed; what is unclear is held."""
    failed = {one["purchase_id"] for one in books.receipts if one["state"] == "payment-failed"}
    for purchase in books.purchases.values():
        if purchase["state"] not in SPENT or purchase["id"] in failed:
            continue
        entry = books.budget.get(f"gpu-{purchase['reservation_id']}/{purchase['leg']['number']}")
        wanted = "committed" if purchase["state"] == "confirmed" else "held"
        if entry is None or entry[3] != wanted or Decimal(entry[2]) != Decimal(purchase["fee"]):
            yield f"{purchase['id']} is {purchase['state']}, and its money is {entry}"


def enough_people_agreed(books: Ledger) -> Iterator[str]:
    given = books.place.rows(
        "select proposal_id, approver, json_extract(body, '$.verdict') from approval"
    )
    for sale in books.sold:
        purchase = books.of_sale(sale)
        if purchase is None:
            continue
        number = purchase["proposal_id"]
        tier = books.tier_of(Decimal(sale["fee"]))
        if tier is None:
            yield f"{sale['id']} cost {sale['fee']}, more than anybody may approve"
            continue
        if tier.get("auto"):
            continue
        said = {who for about, who, verdict in given if (about, verdict) == (number, "approve")}
        pressed = books.place.clicks.get(number, set()) & set(tier["approvers"])
        if said - pressed:
            yield f"{said - pressed} approved {number} without pressing"
        if len(said & pressed) < tier["needed"]:
            yield f"{sale['id']} was bought with the word of {said} alone"


def nothing_sold_is_forgotten(books: Ledger) -> Iterator[str]:
    held = {one["id"] for one in books.receipts}
    for sale in books.sold:
        purchase = books.of_sale(sale)
        if purchase is None:
            yield f"{sale['id']} was sold and the ledger knows nothing of it"
        elif purchase["state"] == "confirmed":
            if not any(name.startswith(sale["id"]) for name in held):
                yield f"{sale['id']} has no receipt"
        elif purchase["state"] not in UNCLEAR:
            yield f"{sale['id']} was sold and {purchase['id']} is {purchase['state']}"
        else:
            yield f"{sale['id']} was sold long ago and {purchase['id']} is still in doubt"


def nothing_is_invented(books: Ledger) -> Iterator[str]:
    sold = {sale["id"] for sale in books.sold}
    carried = {sale["tags"].get(TAG) for sale in books.sold}
    for receipt in books.receipts:
        if receipt["id"] not in sold:
            yield f"receipt {receipt['id']} is of nothing that AWS sold"
    for purchase in books.purchases.values():
        if purchase["state"] == "confirmed" and purchase["id"] not in carried:
            yield f"{purchase['id']} is confirmed and AWS sold nothing for it"


def what_is_unclear_is_shown_to_a_person(books: Ledger) -> Iterator[str]:
    states = dict(books.place.rows("select id, state from reservation"))
    for purchase in books.purchases.values():
        state = states[purchase["reservation_id"]]
        if purchase["state"] in UNCLEAR and state != "needs_review":
            yield f"{purchase['id']} is {purchase['state']}, and its reservation is {state}"


def nothing_is_said_twice(books: Ledger) -> Iterator[str]:
    yield from (f"{key} was said {count} times" for key, count in _said(books).items() if count > 1)


def everything_is_said(books: Ledger) -> Iterator[str]:
    shown = {key for _, key in _said(books)}
    for key, state, error, announcement in books.outbox:
        if json.loads(announcement)["kind"] in ("whisper", "home"):
            continue
        if state == "sent" and key not in shown:
            yield f"{key} is sent and nowhere to be read"
        if state == "dropped":
            yield f"{key} was given up: {error}"


def everybody_hears_of_a_purchase(books: Ledger) -> Iterator[str]:
    keys = {row[0] for row in books.outbox}
    for purchase in books.purchases.values():
        wanted = f"note:gpu-{purchase['reservation_id']}:bought-{purchase['proposal_id']}"
        if purchase["state"] == "confirmed" and wanted not in keys:
            yield f"nobody is told of {purchase['id']}"


def _said(books: Ledger) -> Counter[tuple[str, str]]:
    """How often each message stands in each channel."""
    keys: Counter[tuple[str, str]] = Counter()
    for channel in CHANNELS:
        for message in books.place.surface.get(f"/control/slack/messages?channel={channel}"):
            if message["only_for"] or message["deleted"] or message["user"] != BOT_USER_ID:
                continue
            payload = (message["metadata"] or {}).get("event_payload") or {}
            if "key" in payload:  # an answer to one person that found no other way has none
                keys[channel, payload["key"]] += 1
    return keys


def the_audit_is_whole(books: Ledger) -> Iterator[str]:
    for before, after in pairwise(books.audit):
        if after[6] != before[7]:
            yield f"audit row {after[0]} does not follow the one before it"
    for purchase in books.purchases.values():
        actions = [row[3] for row in books.audit if row[4] == purchase["id"]]
        if purchase["submitted_at"] and actions.count("purchase.submitted") != 1:
            yield f"{purchase['id']} was sent, and the audit says {actions}"


INVARIANTS: tuple[Callable[[Ledger], Iterator[str]], ...] = (
    each_leg_is_sold_at_most_once,
    nothing_is_dearer_than_approved,
    nothing_is_bought_after_expiry,
    nothing_is_sent_while_stopped,
    ceilings_hold,
    enough_people_agreed,
    nothing_sold_is_forgotten,
    nothing_is_invented,
    what_is_unclear_is_shown_to_a_person,
    nothing_is_said_twice,
    everything_is_said,
    everybody_hears_of_a_purchase,
    the_audit_is_whole,
)


def broken(place: Place) -> list[str]:
    """Every invariant that does not hold now, with what breaks it."""
    books = Ledger.of(place)
    return [f"{rule.__name__}: {wrong}" for rule in INVARIANTS for wrong in rule(books)]
