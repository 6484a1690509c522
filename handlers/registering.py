"""The Bolt app with every listener of manifest.yml, from what an acknowledgement needs."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from slack_bolt import App

from bot.ports import Bell, Clock, Store
from handlers.answering import Answering, place_of
from handlers.cards.private import not_accepted
from handlers.deliveries import Action
from handlers.receiving import Listeners, Receiver, build_app
from handlers.web import SLACK_API

if TYPE_CHECKING:
    from handlers.desk import Reading


class Front(Protocol):
    """What takes deliveries in; a Desk is one, and works on them as well."""

    @property
    def store(self) -> Store:
        """Where deliveries are written down."""

    @property
    def clock(self) -> Clock:
        """The time they are written down with."""

    @property
    def bell(self) -> Bell:
        """Wakes the workers."""

    @property
    def parse(self) -> "Reading":
        """Reads what a form says, so that Slack can show its mistakes in it."""


def register(
    front: Front,
    answering: Answering,
    *,
    bot_token: str,
    workspace: str,
    base_url: str = SLACK_API,
    wall: Callable[[], float] = time.time,
) -> App:
    """Return the Bolt app with every listener of manifest.yml; nobody is called."""

    def sorry(item: Action) -> None:
        answering.soon(place_of(item), not_accepted(""))

    receiver = Receiver(store=front.store, clock=front.clock, bell=front.bell, wall=wall)
    listeners = Listeners(receiver=receiver, parse=front.parse, sorry=sorry)
    return build_app(listeners, bot_token=bot_token, workspace=workspace, base_url=base_url)
