"""Notes, whispers and digests: sections of sentences from other rooms, with their buttons."""

from collections.abc import Iterator, Sequence

from bot.domain.saying import Announcement, Audience, Mention, Menu, Press, Section
from handlers import ids
from handlers.cards.limits import split
from handlers.rendering import (
    MOST_TEXT,
    Names,
    actions,
    actions_menu,
    button,
    header,
    listing,
    mrkdwn,
    plain,
    section,
    unnamed,
)
from handlers.reply import Block, Message


def note_messages(announcement: Announcement, names: Names = unnamed) -> tuple[Message, ...]:
    """Return the announcement's own words over as many messages as Slack needs."""
    blocks = [block for part in announcement.sections for block in _section(part, names)]
    blocks += actions([_press(announcement, press) for press in announcement.presses])
    blocks += [_menu(announcement, menu) for menu in announcement.menus]
    return split(_fallback(announcement.sections, names), blocks)


def whispered(
    sections: Sequence[Section],
    *,
    reservation: int | None = None,
    presses: Sequence[Press] = (),
    menus: Sequence[Menu] = (),
) -> tuple[Message, ...]:
    """Return sections for one person alone, where a mention shows the name and wakes nobody.

    docs.slack.dev, chat.postEphemeral: others are not notified of what they can't see.
    """
    return note_messages(
        Announcement(
            kind="whisper",
            to=Audience(),
            reservation_id=reservation,
            sections=tuple(_mentioning(part) for part in sections),
            presses=tuple(presses),
            menus=tuple(menus),
        )
    )


def _mentioning(part: Section) -> Section:
    sentences = tuple(
        tuple(
            phrase.model_copy(update={"ping": True}) if isinstance(phrase, Mention) else phrase
            for phrase in sentence
        )
        for sentence in part.sentences
    )
    return part.model_copy(update={"sentences": sentences})


def _section(part: Section, names: Names) -> Iterator[Block]:
    if part.title:
        yield header(part.title)
    paragraph: list[str] = []
    size = 0
    for sentence in part.sentences:
        line = mrkdwn(sentence, names)
        if paragraph and size + len(line) + 1 > MOST_TEXT:
            yield section("\n".join(paragraph))
            paragraph, size = [], 0
        paragraph.append(line)
        size += len(line) + 1
    if paragraph:
        yield section("\n".join(paragraph))
    if part.listing:
        yield listing(part.listing)


def _press(announcement: Announcement, press: Press) -> Block:
    value = ids.ButtonValue(
        reservation=announcement.reservation_id,
        proposal=announcement.proposal_id,
        argument=press.argument or None,
    )
    return button(press.label, press.action, value.text(), style=press.style, confirm=press.confirm)


def _menu(announcement: Announcement, menu: Menu) -> Block:
    options = []
    for choice in menu.choices:
        value = ids.ButtonValue(
            reservation=announcement.reservation_id, argument=choice.argument
        ).text()
        options.append((choice.label, value))
    return actions_menu(menu.label, menu.action, options)


def _fallback(sections: Sequence[Section], names: Names) -> str:
    said: list[str] = []
    for part in sections:
        said += [plain((f"{part.title.rstrip('.:')}.",))] if part.title else []
        said += [plain(sentence, names) for sentence in part.sentences]
    return " ".join(said) or "gpubot"
