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

Each name is imported when it is first asked for: to record and acknowledge needs few of them.
"""

from typing import TYPE_CHECKING

from bot.deferring import on_first_use

if TYPE_CHECKING:
    from handlers.answering import Answering
    from handlers.commands import KNOWN as VERBS
    from handlers.desk import Desk
    from handlers.http import Gateway, HttpServer
    from handlers.messenger import SlackMessenger
    from handlers.people import SlackPeople
    from handlers.receiving import identify
    from handlers.registering import Front, register
    from handlers.socket import Socket, app_id_of
    from handlers.web import SLACK_API, posting_client, reading_client
    from handlers.working import Worker
else:
    __getattr__ = on_first_use(
        __name__,
        {
            "answering": ("Answering",),
            "commands": ("VERBS=KNOWN",),
            "desk": ("Desk",),
            "http": ("Gateway", "HttpServer"),
            "messenger": ("SlackMessenger",),
            "people": ("SlackPeople",),
            "receiving": ("identify",),
            "registering": ("Front", "register"),
            "socket": ("Socket", "app_id_of"),
            "web": ("SLACK_API", "posting_client", "reading_client"),
            "working": ("Worker",),
        },
    )

__all__ = [
    "SLACK_API",
    "VERBS",
    "Answering",
    "Desk",
    "Front",
    "Gateway",
    "HttpServer",
    "SlackMessenger",
    "SlackPeople",
    "Socket",
    "Worker",
    "app_id_of",
    "identify",
    "posting_client",
    "reading_client",
    "register",
]
