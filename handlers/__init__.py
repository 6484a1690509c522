"""Slack: listeners, the work behind them, cards, and the two ports that need Slack.

What main builds, in this order:

1. `posting_client(token, base_url=…)` and `reading_client(token, base_url=…)`: Web API clients.
2. `identify(reading)`: the workspace's id.
3. `SlackPeople(client=reading, store=…, clock=…, workspace=…)`: the People port.
4. `SlackMessenger(posting=…, reading=…, views=…, names=people.name)`: the Messenger port.
5. `Answering(posting=…, log=…)`, and `Desk(…)` with the services, then
   `Worker(desk=…, answering=…, log=…)`, whose `step()` a thread calls until it returns 0.
6. `register(desk, answering, bot_token=…, workspace=…, base_url=…)`: the Bolt app.
7. In Socket Mode `Socket(app, app_token=…, workspace=…, base_url=…)` with `connect`,
   `connected` and `close`; in HTTP mode `HttpServer(Gateway(app=…, signing_secret=…, …))`.
   `HttpServer` with a Gateway also serves /healthz and /metrics beside Socket Mode.
"""

import time
from collections.abc import Callable

from slack_bolt import App

from handlers.answering import Answering
from handlers.cards.private import not_accepted
from handlers.commands import KNOWN as VERBS
from handlers.deliveries import Action
from handlers.desk import Desk
from handlers.http import Gateway, HttpServer
from handlers.messenger import SlackMessenger
from handlers.people import SlackPeople
from handlers.receiving import Listeners, Receiver, build_app, identify
from handlers.socket import Socket
from handlers.web import SLACK_API, posting_client, reading_client
from handlers.working import Worker, place_of

__all__ = [
    "SLACK_API",
    "VERBS",
    "Answering",
    "Desk",
    "Gateway",
    "HttpServer",
    "SlackMessenger",
    "SlackPeople",
    "Socket",
    "Worker",
    "identify",
    "posting_client",
    "reading_client",
    "register",
]


def register(
    desk: Desk,
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

    receiver = Receiver(store=desk.store, clock=desk.clock, bell=desk.bell, wall=wall)
    listeners = Listeners(receiver=receiver, parse=desk.parse, sorry=sorry)
    return build_app(listeners, bot_token=bot_token, workspace=workspace, base_url=base_url)
