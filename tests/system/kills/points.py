"""The points of a life at which a kill may fall: around each commit and each outgoing call.

A point is named by its side, what happens there, and which time in this life it happens.
"""

import json
import os
import signal
import sqlite3
import sys
import threading
import urllib.parse
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import botocore.httpsession
from slack_sdk.web.base_client import BaseClient
from slack_sdk.webhook import WebhookClient

ROOT = Path(__file__).resolve().parents[3]
NAMED = (str(ROOT / "bot" / "services"), str(ROOT / "handlers"), str(ROOT / "storage" / "recorder"))


class Points:
    """Counts the points that are passed, and ends the process with SIGKILL at one of them."""

    def __init__(self, fatal: str | None) -> None:
        self._fatal = fatal
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self.passed: list[str] = []

    def pass_by(self, side: str, what: str) -> None:
        with self._lock:
            name = f"{side} {what}"
            self._counts[name] += 1
            point = f"{name} #{self._counts[name]}"
            if point == self._fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            self.passed.append(point)

    def around(self, what: str, do: Callable[[], Any]) -> Any:
        self.pass_by("before", what)
        answer = do()
        self.pass_by("after", what)
        return answer

    def install(self) -> None:
        """Put the points into the driver of the database and the two clients of the network."""
        connect, points = sqlite3.connect, self

        class Connection(sqlite3.Connection):
            """Knows whether its transaction has changed anything: only then a commit counts."""

            before = 0

            def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
                if sql.startswith("begin"):
                    self.before = self.total_changes
                if sql == "commit" and self.total_changes > self.before:
                    what = f"commit {opened_by(sys._getframe(1))}"  # noqa: SLF001 - names the unit
                    return points.around(what, lambda: super(Connection, self).execute(sql))
                return super().execute(sql, *values)

        def connecting(*given: Any, **more: Any) -> sqlite3.Connection:
            return connect(*given, **more, factory=Connection)

        sqlite3.connect = connecting
        self._around_slack()
        self._around_aws()

    def _around_slack(self) -> None:
        points = self
        calling = BaseClient._perform_urllib_http_request_internal  # noqa: SLF001 - one place for all
        answering = WebhookClient._perform_http_request  # noqa: SLF001 - as above

        def call(client: BaseClient, url: str, request: Any) -> Any:
            what = f"slack {urllib.parse.urlsplit(url).path.rpartition('/')[2]}"
            return points.around(what, lambda: calling(client, url, request))

        def answer(client: WebhookClient, **given: Any) -> Any:
            return points.around("slack response_url", lambda: answering(client, **given))

        BaseClient._perform_urllib_http_request_internal = call  # noqa: SLF001 - as above
        WebhookClient._perform_http_request = answer  # noqa: SLF001 - as above

    def _around_aws(self) -> None:
        points = self
        session = botocore.httpsession.URLLib3Session
        sending = session.send

        def send(client: Any, request: Any) -> Any:
            return points.around(f"aws {operation_of(request)}", lambda: sending(client, request))

        session.send = send


def opened_by(frame: FrameType | None) -> str:
    """The function of the product that opened the unit of work which is now committed."""
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(NAMED) and "Telling" not in frame.f_code.co_qualname:
            return f"{Path(path).stem}.{frame.f_code.co_qualname.rpartition('.')[2]}"
        frame = frame.f_back
    return "at the opening"


def operation_of(request: Any) -> str:
    """The operation of an AWS request; a rehearsal is told from a purchase."""
    target = request.headers.get("X-Amz-Target")
    if target is not None:
        text = target.decode() if isinstance(target, bytes) else str(target)
        return text.rpartition(".")[2]
    body = request.body
    text = body.decode() if isinstance(body, bytes) else str(body or "")
    if text.startswith("{"):
        return str(sorted(json.loads(text)))
    form = urllib.parse.parse_qs(text)
    operation = form.get("Action", ["?"])[0]
    return f"{operation} (dry run)" if form.get("DryRun") == ["true"] else operation
