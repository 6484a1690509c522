"""What Slack delivers is written down once, acknowledged in time, and never lost or doubled."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.errors import BusyError
from bot.domain.records import Delivery
from handlers import register
from handlers.deliveries import Command, kept, read_item
from handlers.ids import ButtonValue
from handlers.receiving import LEAST_PATIENCE, PATIENCE, Receiver, Verdict
from tests.fakes.bell import FakeBell
from tests.fakes.clock import FakeClock
from tests.handlers.office import TOKEN, WORKSPACE, Office


def waiting(office: Office) -> int:
    with office.store.reading() as tx:
        return tx.inbox.waiting()


def test_a_command_is_acknowledged_empty_and_carried_out_later(office):
    status, body = office.command("reserve 2 p5.48xlarge for 72h")
    assert (status, body, office.services.told, waiting(office)) == (200, "", [], 1)
    office.work()
    assert office.services.told == [("file", "reserve 2 p5.48xlarge for 72h", "U0ANA", False)]


def test_the_word_payload_anywhere_in_a_command_does_not_lose_it(office):
    office.command("reserve 2 p5.48xlarge for payload tests")
    office.command("list", channel_name="payload-infra")
    assert waiting(office) == 2


def test_the_same_command_three_times_is_one_request_even_after_a_restart(slack, tmp_path):
    first = Office(slack, database=tmp_path / "inbox.db")
    for _ in range(2):
        assert first.command("reserve 2 p5.48xlarge for 72h", trigger_id="1.2.same") == (200, "")
    first.work()
    first.store.close()
    second = Office(slack, database=tmp_path / "inbox.db")
    assert second.command("reserve 2 p5.48xlarge for 72h", trigger_id="1.2.same") == (200, "")
    second.work()
    second.store.close()
    assert (len(first.services.told), second.services.told) == (1, [])


def test_the_same_press_twice_is_one_press_and_two_presses_are_two(office):
    value = ButtonValue(proposal=7).text()
    action = {"action_id": "gpu.approve", "value": value, "action_ts": "5.5", "type": "button"}
    for _ in range(2):
        office.press("gpu.approve", value, user="U0BRUNO", actions=[action])
    office.press("gpu.approve", value, user="U0CARLA")
    office.work()
    assert office.services.told == [("approve", 7, "U0BRUNO"), ("approve", 7, "U0CARLA")]


def test_a_busy_database_is_answered_with_send_again_and_leaves_no_row(slack, tmp_path):
    office = Office(slack, database=tmp_path / "inbox.db")
    office.wall.at -= 1.9
    stamp = str(int(office.wall()))
    office.wall.at += 1.9
    locked, free = threading.Event(), threading.Event()

    def hold() -> None:
        with office.store.transaction():
            locked.set()
            free.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait(10)
    body = urlencode(
        {
            "command": "/gpu",
            "text": "list",
            "user_id": "U0ANA",
            "team_id": "T0GPU",
            "channel_id": "C0GPU",
            "trigger_id": "9.9.z",
            "response_url": slack.address("x"),
        }
    )
    status, answer = office.post(body, stamp=stamp)
    free.set()
    holder.join()
    told = json.loads(answer)
    assert (status, told["response_type"]) == (200, "ephemeral")
    assert "Not accepted" in told["text"]
    assert "send it again" in told["text"]
    assert waiting(office) == 0
    office.store.close()


def test_behind_a_delivery_that_a_locked_database_refused_none_waits_long():
    class Locked:
        def __init__(self) -> None:
            self.patience: list[timedelta] = []
            self.free = False

        def record(self, _: Delivery, *, patience: timedelta) -> bool:
            self.patience.append(patience)
            if not self.free:
                raise BusyError("locked")
            return True

    store = Locked()
    receiver = Receiver(store=store, clock=FakeClock(), bell=FakeBell(), wall=lambda: 100.0)
    item = Command(
        text="list", user="U0ANA", workspace="T0", channel="C0", answer_at=None, trigger="t"
    )
    for number in range(3):
        verdict = receiver.take("command", str(number), item, arrived=100.0)
        assert verdict is Verdict.BUSY
    store.free = True
    for number in range(2):
        assert receiver.take("command", str(number), item, arrived=100.0) is Verdict.TAKEN
    assert store.patience == [PATIENCE, LEAST_PATIENCE, LEAST_PATIENCE, LEAST_PATIENCE, PATIENCE]


def test_a_press_that_was_not_accepted_is_told_by_its_own_address(slack, tmp_path):
    office = Office(slack, database=tmp_path / "inbox.db")
    locked, free = threading.Event(), threading.Event()

    def hold() -> None:
        with office.store.transaction():
            locked.set()
            free.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait(10)
    assert office.press("gpu.approve", ButtonValue(proposal=7).text())[0] == 200
    free.set()
    holder.join()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and "give" in thread.name:
            thread.join(5)
    assert "Not accepted" in office.said()
    office.work()
    assert office.services.told == []
    office.store.close()


def test_a_late_command_waits_until_its_sender_says_yes(office):
    body = urlencode(
        {
            "command": "/gpu",
            "text": "stop",
            "user_id": "U0DIEGO",
            "team_id": "T0GPU",
            "channel_id": "C0GPU",
            "trigger_id": "9.9.z",
            "response_url": office.slack.address("late"),
        }
    )
    assert office.post(body, sent=office.wall() - 3)[0] == 200
    office.work()
    assert office.services.told == []
    assert "Do you still want this?" in office.said()
    assert "/gpu stop" in office.said()
    value = office.value("gpu.choice")

    office.press("gpu.choice", value, user="U0ANA")
    office.work()
    assert "Only the person who sent that line may choose." in office.said()
    assert office.services.told == []

    for _ in range(2):
        office.press("gpu.choice", value, user="U0DIEGO")
        office.work()
    assert [told[0] for told in office.services.told] == ["set"]
    assert "carried out already" in office.said()


def test_a_command_in_time_is_not_late(office):
    body = urlencode(
        {
            "command": "/gpu",
            "text": "stop",
            "user_id": "U0DIEGO",
            "team_id": "T0GPU",
            "channel_id": "C0GPU",
            "trigger_id": "9.9.y",
            "response_url": office.slack.address("prompt"),
        }
    )
    office.post(body, sent=office.wall() - 1)
    office.work()
    assert [told[0] for told in office.services.told] == ["set"]


def test_a_late_approval_moves_nothing_before_a_yes(office):
    payload = {
        "type": "block_actions",
        "user": {"id": "U0BRUNO", "team_id": "T0GPU"},
        "team": {"id": "T0GPU"},
        "container": {"message_ts": "1.1", "channel_id": "C0GPU"},
        "trigger_id": "8.8.x",
        "response_url": office.slack.address("late-press"),
        "actions": [
            {
                "action_id": "gpu.approve",
                "action_ts": "7.7",
                "value": ButtonValue(proposal=7).text(),
            }
        ],
    }
    office.post(urlencode({"payload": json.dumps(payload)}), sent=office.wall() - 3)
    office.work()
    assert office.services.told == []
    office.press("gpu.choice", office.value("gpu.choice"), user="U0BRUNO")
    office.work()
    assert office.services.told == [("approve", 7, "U0BRUNO")]


def test_nothing_escapes_a_listener(office):
    class Broken:
        def now(self):
            raise RuntimeError("no clock")

    object.__setattr__(office.desk, "clock", Broken())
    app = register(office.desk, office.answering, bot_token=TOKEN, workspace=WORKSPACE)
    object.__setattr__(office.gateway, "app", app)
    status, answer = office.command("list")
    assert (status, json.loads(answer)["response_type"]) == (200, "ephemeral")
    assert "Not accepted" in answer
    assert waiting(office) == 0


def test_an_unknown_delivery_is_acknowledged_and_forgotten(office):
    assert office.event({"type": "message", "user": "U0ANA"})[0] == 200
    assert office.press("old.button", "x")[0] == 200
    shortcut = {
        "type": "shortcut",
        "callback_id": "x",
        "user": {"id": "U0ANA"},
        "team": {"id": "T0GPU"},
    }
    assert office.post(urlencode({"payload": json.dumps(shortcut)}))[0] == 200
    office.work()
    assert office.services.told == []


def test_only_the_home_tab_is_drawn_and_a_repeated_event_once(office):
    for tab, event_id in (("messages", "Ev1"), ("home", "Ev2"), ("home", "Ev2")):
        office.event({"type": "app_home_opened", "user": "U0ANA", "tab": tab}, event_id=event_id)
    assert waiting(office) == 1
    office.work()
    with office.store.transaction() as tx:
        assert tx.outbox.waiting(now=office.clock.now()) == 1


def test_twenty_commands_at_once_are_twenty_rows(slack, tmp_path):
    office = Office(slack, database=tmp_path / "inbox.db")
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda n: office.command("list", trigger_id=f"{n}.1.p"), range(20)))
    assert answers == [(200, "")] * 20
    assert waiting(office) == 20
    office.store.close()


def test_capabilities_are_kept_out_of_what_is_printed():
    command = Command(
        user="U0ANA",
        workspace="T0GPU",
        channel="C0GPU",
        text="list",
        trigger="1.2.secret",
        answer_at="https://hooks.example/secret",
    )
    assert "secret" not in repr(command)
    assert "secret" in kept(command)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_any_text_after_the_command_is_taken_as_it_was_typed(office, text):
    assert office.command(text) == (200, "")
    with office.store.transaction() as tx:
        row = tx.inbox.claim(now=office.clock.now(), lease=timedelta(hours=1), limit=1)[0]
        tx.inbox.done(row.id, outcome="seen")
    assert read_item(row.body).text == text


@pytest.mark.parametrize(
    "body",
    [
        {"type": "view_submission", "view": {}},
        {"type": "view_submission", "view": {"callback_id": "gpu.deny.view"}},
        {"type": 7},
        {},
    ],
)
def test_a_payload_without_its_fields_is_acknowledged_all_the_same(office, body):
    assert office.post(urlencode({"payload": json.dumps(body)}))[0] == 200
    assert waiting(office) == 0
