"""What people look at: digest, budget, calendar, market and settings, each for one person.

Everything here reads, except the button that posts the digest where digests are posted.
"""

from collections.abc import Callable

from bot.domain.errors import UserError
from bot.domain.saying import Press, Section
from bot.services.overviews import Overviews
from handlers import ids
from handlers.cards.notes import whispered
from handlers.desk import Desk
from handlers.heard import Pressed, Said
from handlers.reply import Reply


def _digest(said: Said, desk: Desk) -> Reply:
    post = Press(
        action=ids.DIGEST_POST,
        label="Post it in the digest channel",
        confirm="Everybody in the digest channel sees it, with the money of every team.",
    )
    return _shown(_overviews(desk).digest(said.user), post)


def _budget(said: Said, desk: Desk) -> Reply:
    return _shown(_overviews(desk).budget(said.user))


def _calendar(said: Said, desk: Desk) -> Reply:
    return _shown(_overviews(desk).calendar(said.person))


def _market(said: Said, desk: Desk) -> Reply:
    what = {name: str(value) for name, value in said.parsed.arguments.items() if value}
    sections = _overviews(desk).market(
        said.person,
        instance_type=what.get("instance_type", ""),
        family=what.get("family", ""),
        accelerator=what.get("accelerator", ""),
    )
    return _shown(sections)


def _settings(said: Said, desk: Desk) -> Reply:
    return _shown(_overviews(desk).settings(said.person))


def _press_post(pressed: Pressed, desk: Desk) -> Reply:
    said = _overviews(desk).post_digest(by=pressed.user)
    return _shown((Section(sentences=((said,),)),))


def _shown(sections: tuple[Section, ...], *presses: Press) -> Reply:
    return Reply(messages=whispered(sections, presses=presses))


def _overviews(desk: Desk) -> Overviews:
    if desk.overviews is None:
        raise UserError("That does nothing yet.", hint="list")
    return desk.overviews


VERBS: dict[str, Callable[[Said, Desk], Reply]] = {
    "digest": _digest,
    "budget": _budget,
    "calendar": _calendar,
    "market": _market,
    "settings": _settings,
}

BUTTONS: dict[str, Callable[[Pressed, Desk], Reply]] = {ids.DIGEST_POST: _press_post}
