"""Queues of events in the administrator's file."""

import pytest

from bot.settings.config_file import EXAMPLE, parse_configuration

LINE = "    platform: Linux/UNIX"


def read(queues: str):
    return parse_configuration(EXAMPLE.replace(LINE, f"    event_queues: {queues}\n{LINE}", 1))


def test_no_queue_is_read_unless_one_is_named() -> None:
    configuration, _ = parse_configuration(EXAMPLE)
    assert configuration is not None
    assert configuration.accounts[0].event_queues == {}


def test_a_queue_is_named_by_region_and_address() -> None:
    url = "https://sqs.us-east-1.amazonaws.com/111122223333/gpubot-events"
    configuration, faults = read(f'{{us-east-1: "{url}"}}')
    assert configuration is not None, faults
    assert configuration.accounts[0].event_queues == {"us-east-1": url}


@pytest.mark.parametrize("url", ["gpubot-events", "arn:aws:sqs:us-east-1:1:q", "https://sqs/"])
def test_what_is_no_address_is_a_fault_with_its_line(url) -> None:
    configuration, faults = read(f'{{us-east-1: "{url}"}}')
    assert configuration is None
    at = EXAMPLE[: EXAMPLE.index(LINE)].count("\n") + 1
    assert [line for line, said in faults if "event_queues" in said] == [at]
    assert any("write the queue's address" in said for _, said in faults)
