from sandbox.bot_process import Backlog


def test_a_purchase_left_by_a_dead_process_does_not_hold_a_jump() -> None:
    assert Backlog(purchases=1).empty()


def test_whatever_waits_now_holds_a_jump() -> None:
    for waiting in ("inbox", "outbox", "due"):
        assert not Backlog(**{waiting: 1}).empty()
