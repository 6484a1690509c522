from datetime import timedelta

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
