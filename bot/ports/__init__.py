"""What the services need from outside, as protocols without bodies.

Every implementation, fakes included, passes the contract suite of its port (tests/contract).
All times are aware UTC. Nothing here may be called inside a transaction except the transaction.
"""

from bot.ports.aws import (
    Buyer,
    Endpoints,
    EventQueue,
    Holdings,
    Leftovers,
    Machines,
    MarketReader,
    Sharer,
    SpotPrices,
    Tagger,
    Utilisation,
)
from bot.ports.queues import Dues, Inbox, Outbox, Outgoing
from bot.ports.records import (
    Audit,
    Budget,
    Counts,
    Decisions,
    Facts,
    Loans,
    Proposals,
    Purchases,
    Receipts,
    Reservations,
)
from bot.ports.slack import Messenger, People
from bot.ports.store import Store, Transaction
from bot.ports.timing import Bell, Clock

__all__ = [
    "Audit",
    "Bell",
    "Budget",
    "Buyer",
    "Clock",
    "Counts",
    "Decisions",
    "Dues",
    "Endpoints",
    "EventQueue",
    "Facts",
    "Holdings",
    "Inbox",
    "Leftovers",
    "Loans",
    "Machines",
    "MarketReader",
    "Messenger",
    "Outbox",
    "Outgoing",
    "People",
    "Proposals",
    "Purchases",
    "Receipts",
    "Reservations",
    "Sharer",
    "SpotPrices",
    "Store",
    "Tagger",
    "Transaction",
    "Utilisation",
]
