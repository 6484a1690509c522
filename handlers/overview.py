"""What people look at: digest, budget, calendar, market and settings, each for one person.

Everything here reads, except the button that posts the digest where digests are posted.
"""

from collections.abc import Callable

from bot.domain.records import Person
from bot.domain.saying import Press, Section
from bot.services.digests.overviews import Overviews
from handlers import ids
from handlers.cards.notes import whispered
from handlers.desk import Desk, needed
from handlers.heard import Pressed, Said, outdated
from handlers.reply import Reply


def _digest(person: Person, desk: Desk) -> Reply:
    post = Press(
        action=ids.DIGEST_POST,
        label="Post it in the digest channel",
        confirm="Everybody in the digest channel sees it, with the money of every team.",
    )
    return _shown(_overviews(desk).digest(person.id), post)


def _budget(person: Person, desk: Desk) -> Reply:
    return _shown(_overviews(desk).budget(person.id))


def _calendar(person: Person, desk: Desk) -> Reply:
    return _shown(_overviews(desk).calendar(person))


def _market(said: Said, desk: Desk) -> Reply:
    what = {name: str(value) for name, value in said.parsed.arguments.items() if value}
    sections = _overviews(desk).market(
        said.person,
        instance_type=what.get("instance_type", ""),
        family=what.get("family", ""),
        accelerator=what.get("accelerator", ""),
    )
    return _shown(sections)


def _settings(person: Person, desk: Desk) -> Reply:
    return _shown(_overviews(desk).settings(person))


def _press_post(pressed: Pressed, desk: Desk) -> Reply:
    said = _overviews(desk).post_digest(by=pressed.user)
    return _shown((Section(sentences=((said,),)),))


def _press_look(pressed: Pressed, desk: Desk) -> Reply:
    """Answer a look that a button names, as if its verb had been sent."""
    look = LOOKS.get(pressed.value.argument or "")
    if look is None:
        raise outdated()
    return look(pressed.person, desk)


def _shown(sections: tuple[Section, ...], *presses: Press) -> Reply:
    return Reply(messages=whispered(sections, presses=presses))


def _overviews(desk: Desk) -> Overviews:
    return needed(desk.overviews)


LOOKS: dict[str, Callable[[Person, Desk], Reply]] = {
    "digest": _digest,
    "budget": _budget,
    "calendar": _calendar,
    "settings": _settings,
}
"""Looks that need nothing but who looks."""


def _said(look: Callable[[Person, Desk], Reply]) -> Callable[[Said, Desk], Reply]:
    return lambda said, desk: look(said.person, desk)


VERBS: dict[str, Callable[[Said, Desk], Reply]] = {
    **{verb: _said(look) for verb, look in LOOKS.items()},
    "market": _market,
}

BUTTONS: dict[str, Callable[[Pressed, Desk], Reply]] = {
    ids.DIGEST_POST: _press_post,
    **{f"{ids.LOOK}.{verb}": _press_look for verb in LOOKS},
}
