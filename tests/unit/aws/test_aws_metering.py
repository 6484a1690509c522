"""Every request to AWS is counted once, repeats too, by what came of it."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from prometheus_client import REGISTRY
from typing_extensions import override

from bot.aws.clients import Clients, instant_of
from bot.aws.metering import LAST_READ
from bot.policy.configuration import Account

ACCOUNT = Account(name="research", account_id="123456789012", regions=("us-east-1",))
REGIONS = "DescribeRegionsResponse"
NAMES = "http://ec2.amazonaws.com/doc/2016-11-15/"
GOOD = (200, f'<{REGIONS} xmlns="{NAMES}"><regionInfo/></{REGIONS}>'.encode())


def _error(status: int, code: str) -> tuple[int, bytes]:
    text = f"<Response><Errors><Error><Code>{code}</Code><Message>m</Message></Error></Errors>"
    return status, f"{text}<RequestID>r</RequestID></Response>".encode()


class _Aws(BaseHTTPRequestHandler):
    answers: list[tuple[int, bytes] | None]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        answer = self.answers.pop(0)
        if answer is None:
            self.close_connection = True
            return
        self.send_response(answer[0])
        self.send_header("Content-Length", str(len(answer[1])))
        self.end_headers()
        self.wfile.write(answer[1])

    @override
    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def aws(monkeypatch):
    handler = type("Handler", (_Aws,), {"answers": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A" * 20)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    yield handler.answers
    server.shutdown()
    server.server_close()


def _count(operation: str, outcome: str) -> float:
    labels = {"operation": operation, "outcome": outcome}
    return REGISTRY.get_sample_value("gpubot_aws_requests_total", labels) or 0.0


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (GOOD, "ok"),
        (_error(503, "RequestLimitExceeded"), "throttled"),
        (_error(400, "InvalidParameterValue"), "refused"),
        (_error(500, "InternalError"), "failed"),
        (None, "unanswered"),
    ],
)
def test_a_request_is_counted_by_what_came_of_it(aws, answer, outcome):
    before = _count("DescribeRegions", outcome)
    aws.append(answer)
    client = Clients([ACCOUNT]).spending("ec2", "research", "us-east-1")
    try:
        client.describe_regions()
    except Exception:  # noqa: BLE001 - which error it is, is another test's matter
        assert outcome != "ok"
    client.close()
    assert _count("DescribeRegions", outcome) == before + 1


def test_repeats_count_each_and_only_an_answer_to_a_read_moves_its_time(aws):
    LAST_READ.set(0)
    throttled = _count("DescribeRegions", "throttled")
    aws += [_error(503, "RequestLimitExceeded"), GOOD]
    client = Clients([ACCOUNT]).reading("ec2", "research", "us-east-1")
    client.describe_regions()
    assert _count("DescribeRegions", "throttled") == throttled + 1
    assert REGISTRY.get_sample_value("gpubot_aws_last_read_timestamp_seconds") > 0
    LAST_READ.set(0)
    aws.append(_error(400, "InvalidParameterValue"))
    with pytest.raises(Exception, match="InvalidParameterValue"):
        client.describe_regions()
    client.close()
    assert REGISTRY.get_sample_value("gpubot_aws_last_read_timestamp_seconds") == 0


@pytest.mark.parametrize(
    "text",
    ["2027-03-14T11:30:00Z", "2027-03-14T11:30:00.000Z", "2027-03-14T12:30:00+01:00", "1805023800"],
)
def test_an_instant_reads_the_same_however_aws_writes_it(text):
    assert instant_of(text).timestamp() == 1805023800
