"""Counts every request that leaves for AWS, by what came of it."""

from collections.abc import Mapping
from typing import Any

import botocore.session
from prometheus_client import Counter, Gauge

from bot.aws.errors import THROTTLES

REQUESTS = Counter(
    "gpubot_aws_requests",
    "Requests sent to AWS, repeats included, by operation and what came of them",
    ["operation", "outcome"],
)
LAST_READ = Gauge(
    "gpubot_aws_last_read_timestamp_seconds", "When AWS last answered a read, by the wall clock"
)
_READS = ("Describe", "List", "Get", "Search")
_SERVER_TROUBLE = 500


def meter(session: botocore.session.Session) -> None:
    """Have every client of the session counted; to be called before one is made."""
    session.register("response-received", _count)


def _count(**event: Any) -> None:
    """Count one answer: botocore's event "response-received.<service>.<operation>"."""
    operation = str(event["event_name"]).rpartition(".")[2]
    outcome = _outcome(event.get("parsed_response"))
    REQUESTS.labels(operation, outcome).inc()
    if outcome == "ok" and operation.startswith(_READS):
        LAST_READ.set_to_current_time()


def _outcome(answer: Mapping[str, Any] | None) -> str:
    """Return ok, throttled, refused, failed, or unanswered when nothing readable came back."""
    if answer is None:
        return "unanswered"
    status = int(answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    code = answer.get("Error", {}).get("Code")
    if code in THROTTLES:
        return "throttled"
    if status >= _SERVER_TROUBLE:
        return "failed"
    return "ok" if code is None else "refused"
