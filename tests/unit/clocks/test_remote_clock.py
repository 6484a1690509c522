import json
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bot.clocks import RemoteClock, SystemClock, clock_at
from bot.domain.errors import SettingsError

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


class Dial:
    """A clock on a real socket whose time a test sets."""

    def __init__(self) -> None:
        self.body = json.dumps({"now": "2027-03-10T12:00:00Z"})
        dial = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(dial.body.encode())

            def log_message(self, *words: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/clock"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def dial():
    dial = Dial()
    yield dial
    dial.stop()


def eventually(claim) -> None:
    for _ in range(200):
        if claim():
            return
        threading.Event().wait(0.01)
    raise AssertionError


def test_it_tells_the_other_clocks_time_in_utc(dial) -> None:
    now = RemoteClock(dial.address).now()
    assert NOON <= now < NOON + timedelta(seconds=5)
    assert now.tzinfo is UTC


def test_it_follows_a_jump_forward(dial) -> None:
    clock = RemoteClock(dial.address)
    dial.body = json.dumps({"now": "2027-03-12T12:00:00Z"})
    eventually(lambda: clock.now() >= NOON + timedelta(days=2))


def test_it_never_runs_backwards(dial) -> None:
    clock = RemoteClock(dial.address)
    before = clock.now()
    dial.body = json.dumps({"now": "2027-03-01T12:00:00Z"})
    for _ in range(10):
        threading.Event().wait(0.01)
        assert clock.now() >= before


def test_time_goes_on_when_the_clock_falls_silent(dial) -> None:
    clock = RemoteClock(dial.address)
    dial.stop()
    first = clock.now()
    eventually(lambda: clock.now() > first)


@pytest.mark.parametrize(
    "body", ["", "{}", '{"now": 3}', '{"now": "noon"}', '{"now": "2027-03-10"}']
)
def test_an_answer_that_is_no_time_stops_the_start_with_a_clear_line(dial, body) -> None:
    dial.body = body
    with pytest.raises(SettingsError, match="GPUBOT_CLOCK"):
        clock_at(dial.address)


def test_a_clock_that_is_not_there_stops_the_start(dial) -> None:
    dial.stop()
    with pytest.raises(SettingsError, match="does not answer"):
        clock_at(dial.address)


def test_the_word_system_is_the_machines_own_clock() -> None:
    assert isinstance(clock_at("system"), SystemClock)
