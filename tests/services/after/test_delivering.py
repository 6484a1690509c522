from datetime import timedelta

from bot.domain.errors import DeliveryError
from bot.domain.saying import Announcement, Audience, Section


def put(world, key: str, **update) -> None:
    announcement = Announcement(
        kind=update.pop("kind", "note"),
        to=Audience(channel="C0GPU", user=update.pop("user", None)),
        sections=(Section(sentences=(("hello",),)),),
        **update,
    )
    with world.store.transaction() as tx:
        tx.outbox.put(key, announcement, at=world.clock.now())


def test_a_message_is_posted_once(world) -> None:
    put(world, "a")
    put(world, "a")
    world.settle()
    world.settle()
    assert world.messenger.posts == 1


def test_a_post_in_doubt_is_looked_up_before_it_is_repeated(world) -> None:
    world.messenger.faults = ["lost-answer"]
    put(world, "a")
    world.run_until(world.clock.now() + timedelta(minutes=5))
    assert world.messenger.posts == 1
    with world.store.reading() as tx:
        assert tx.outbox.where("a") == world.messenger.places["a"]


def test_a_refusal_that_asks_to_wait_is_waited_for(world) -> None:
    world.messenger.faults = ["refuse"]
    put(world, "a")
    world.settle()
    assert world.messenger.posts == 0
    world.run_until(world.clock.now() + timedelta(seconds=29))
    assert world.messenger.posts == 0
    world.run_until(world.clock.now() + timedelta(seconds=2))
    assert world.messenger.posts == 1


def test_a_note_waits_for_the_card_that_it_belongs_under(world) -> None:
    world.messenger.faults = ["refuse"]
    announcement = Announcement(kind="card", to=Audience(channel="C0GPU"), reservation_id=1)
    with world.store.transaction() as tx:
        tx.outbox.redraw("card:gpu-1", announcement, at=world.clock.now())
    put(world, "note:gpu-1:x", thread="card:gpu-1")
    world.settle()
    assert world.messenger.said == {}
    world.run_until(world.clock.now() + timedelta(minutes=1))
    assert list(world.messenger.said) == ["card:gpu-1", "note:gpu-1:x"]


def test_a_living_card_is_drawn_anew_in_its_place(world) -> None:
    announcement = Announcement(kind="card", to=Audience(channel="C0GPU"), reservation_id=1)
    for _ in range(3):
        with world.store.transaction() as tx:
            tx.outbox.redraw("card:gpu-1", announcement, at=world.clock.now())
        world.settle()
    assert world.messenger.posts == 1


def test_a_card_that_somebody_deleted_is_posted_anew(world) -> None:
    announcement = Announcement(kind="card", to=Audience(channel="C0GPU"), reservation_id=1)
    for _ in range(2):
        with world.store.transaction() as tx:
            tx.outbox.redraw("card:gpu-1", announcement, at=world.clock.now())
        world.settle()
        world.messenger.places.clear()
    assert world.messenger.posts == 2


def test_a_whisper_goes_at_most_once(world) -> None:
    put(world, "w", kind="whisper", user="U0ANA")
    with world.store.transaction() as tx:
        taken = tx.outbox.claim(now=world.clock.now(), lease=timedelta(minutes=2), limit=9)
    assert len(taken) == 1
    world.run_until(world.clock.now() + timedelta(minutes=10))
    assert world.messenger.whispers == []
    assert any("in doubt" in line for line in world.log.lines)


def test_a_message_that_cannot_be_drawn_holds_up_no_other(world, monkeypatch) -> None:
    post = world.messenger.post

    def draw(key, announcement, *, under):
        if key == "broken":
            raise KeyError("channel")
        return post(key, announcement, under=under)

    monkeypatch.setattr(world.messenger, "post", draw)
    put(world, "a")
    put(world, "broken")
    put(world, "z")
    world.settle()
    assert list(world.messenger.said) == ["a", "z"]
    monkeypatch.undo()
    world.run_until(world.clock.now() + timedelta(minutes=1))
    assert list(world.messenger.said) == ["a", "z", "broken"]


def test_a_whisper_that_failed_is_not_repeated(world, monkeypatch) -> None:
    def crash(_announcement):
        raise KeyError("channel")

    with monkeypatch.context() as patch:
        patch.setattr(world.messenger, "whisper", crash)
        put(world, "w", kind="whisper", user="U0ANA")
        world.settle()
    world.run_until(world.clock.now() + timedelta(minutes=10))
    assert world.messenger.whispers == []


def test_a_wait_beyond_all_reason_is_cut_to_an_hour(world, monkeypatch) -> None:
    def refuse(key, announcement, *, under):
        raise DeliveryError("ratelimited", retry_after_seconds=10**12)

    with monkeypatch.context() as patch:
        patch.setattr(world.messenger, "post", refuse)
        put(world, "a")
        world.settle()
    world.run_until(world.clock.now() + timedelta(minutes=61))
    assert world.messenger.posts == 1
