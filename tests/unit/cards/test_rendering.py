"""Words from outside stay words; moments are the reader's; nothing passes a limit of Slack."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.errors import CommandError, UserError
from bot.domain.saying import Announcement, Audience, Code, Mention, Moment, Section, Strong
from handlers.cards.limits import MOST_BLOCKS, MOST_CHARACTERS, split
from handlers.cards.notes import note_messages
from handlers.cards.private import problem_of
from handlers.rendering import (
    actions,
    button,
    cut,
    cut_mrkdwn,
    dated,
    escape,
    header,
    label,
    moment,
    mrkdwn,
    peopled,
    plain,
    section,
    shown,
    typed,
    words,
)
from tests.handlers.office import NOW

GRAVE = "\N{MODIFIER LETTER GRAVE ACCENT}"
LIVE = re.compile(r"<[!@#h]")


def test_moments_of_the_core_are_shown_in_the_reader_s_own_zone():
    said = dated("It ends at 2027-03-18 11:00 UTC, *not* <later>.")
    assert "<!date^1805367600^{date_short_pretty} at {time}|Thu 18 Mar 2027, 11:00 UTC>" in said
    assert "2027-03-18" not in said
    assert "*" not in said
    assert "<later>" not in said
    assert dated("2027-13-99 99:99 UTC") == "2027-13-99 99:99 UTC"


def test_hours_of_the_core_are_shown_to_a_tenth():
    said = "43.4 h are reserved; 48 h were asked, 71.5 h are there."
    assert dated("43.4333 h are reserved; 48 h were asked, 71.5 h are there.") == said


def test_the_spoken_text_keeps_every_title_with_its_own_part():
    parts = (
        Section(title="You", sentences=(("You may ask.",),)),
        Section(title="Teams", sentences=(("vision pays.",),)),
    )
    [message] = note_messages(Announcement(kind="whisper", to=Audience(), sections=parts))
    assert message.text == "You. You may ask. Teams. vision pays."


@given(st.text())
def test_no_text_becomes_markup(text):
    safe = shown(text)
    assert not LIVE.search(safe)
    assert not set("*`~<>") & set(safe)
    assert "\n" not in safe
    assert "\u202e" not in safe


def test_ampersands_are_escaped_first_and_once():
    assert escape("<a> & &lt;") == "&lt;a&gt; &amp; &amp;lt;"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("don't stop", "don't stop"),
        ("snake_case stays", "snake_case stays"),
        ("_slanted_", "ˍslantedˍ"),
        ("a\n\nb\tc", "a b c"),
        ("<!channel>", "&lt;!channel&gt;"),
    ],
)
def test_what_is_typed_is_what_is_read(text, wanted):
    assert shown(text) == wanted


def test_slacks_own_encoding_is_undone_once_and_no_more():
    assert typed("&lt;b&gt; &amp;amp; &amp;lt;") == "<b> &amp; &lt;"
    assert shown(typed("&lt;!channel&gt;")) == "&lt;!channel&gt;"


def test_a_moment_is_in_the_readers_zone_with_utc_beside_it_and_in_the_fallback():
    text = moment(NOW)
    assert text == (
        "<!date^1804690800^{date_short_pretty} at {time}|Wed 10 Mar 2027, 15:00 UTC> (15:00 UTC)"
    )


def test_a_sentence_keeps_the_spaces_between_its_parts():
    sentence = (
        Mention(id="U0ANA"),
        " it ends ",
        Moment(at=NOW),
        ", ",
        Strong(text="soon"),
        ": ",
        Code(text="/gpu `x`"),
    )
    said = mrkdwn(sentence)
    assert said.startswith("<@U0ANA> it ends <!date^")
    assert said.endswith(
        "), *soon*: `/gpu \N{MODIFIER LETTER GRAVE ACCENT}x\N{MODIFIER LETTER GRAVE ACCENT}`"
    )
    assert plain(sentence) == (
        f"<@U0ANA> it ends Wed 10 Mar 2027, 15:00 UTC, soon: /gpu {GRAVE}x{GRAVE}"
    )


def test_a_name_without_a_ping_wakes_nobody():
    quiet = Mention(id="U0ANA", ping=False)
    assert mrkdwn((quiet,), lambda _: "Ana <3") == "Ana &lt;3"
    assert mrkdwn((Mention(id="S0APPROVERS"),)) == "<!subteam^S0APPROVERS>"


@given(st.text(alphabet="ab&<> ", max_size=300), st.integers(2, 80))
def test_a_cut_never_splits_an_entity_or_a_token(text, most):
    made = cut_mrkdwn(shown(text) + moment(NOW), most)
    assert len(made) <= most
    rest = re.sub(r"<!date[^<>]*>|&(?:amp|lt|gt);", "", made)
    assert not set("<>&") & set(rest)


@given(st.text(max_size=200))
def test_every_text_object_is_within_its_limit(text):
    long = text * 30
    assert 1 <= len(words(long)["text"]) <= 3_000
    assert 1 <= len(label(long)["text"]) <= 75
    assert len(header(long)["text"]["text"]) <= 150
    assert words(long)["verbatim"] is True


def test_a_cut_is_shown():
    assert cut("abcdef", 4) == "abc…"


@given(st.lists(st.integers(1, 3_000), max_size=120))
def test_splitting_keeps_every_block_in_order_and_every_message_small(sizes):
    blocks = [section(f"{n} " + "x" * size) for n, size in enumerate(sizes)]
    messages = split("List", blocks)
    assert [block for message in messages for block in message.blocks] == blocks
    for message in messages:
        assert len(message.blocks) <= MOST_BLOCKS
        assert sum(len(json.dumps(b, ensure_ascii=False)) for b in message.blocks) <= max(
            MOST_CHARACTERS, 3_200
        )


def test_buttons_of_one_name_stand_in_rows_of_their_own():
    rows = actions(
        [
            button("A", "gpu.choice", "1"),
            button("B", "gpu.choice", "2"),
            button("C", "gpu.form", "3"),
        ]
    )
    assert [[e["value"] for e in row["elements"]] for row in rows] == [["1", "3"], ["2"]]


NAMED = {"U0BRUNO": "Bruno <B>", "W0LIN": "Lin"}.get


@pytest.mark.parametrize(
    ("ours", "said"),
    [
        ("approved by @U0BRUNO.", "approved by Bruno &lt;B&gt;."),
        ("@W0LIN and @U0BRUNO", "Lin and Bruno &lt;B&gt;"),
        ("@U0NOBODY did", "@U0NOBODY did"),
        ("mail me@U0BRUNO, @Upper, @U1", "mail me@U0BRUNO, @Upper, @U1"),
    ],
)
def test_people_in_our_own_words_are_called_by_their_names(ours, said):
    assert peopled(shown(ours), lambda user: NAMED(user) or f"@{user}") == said


def test_in_private_people_and_groups_are_mentioned():
    assert peopled(shown("by @U0BRUNO or @S0BOSSES.")) == "by <@U0BRUNO> or <!subteam^S0BOSSES>."


def test_a_mention_that_somebody_typed_stays_inert():
    assert peopled(shown("<@U0BRUNO>")) == "&lt;@U0BRUNO&gt;"


def test_a_refusal_names_people_but_not_those_in_a_typed_line():
    ours = problem_of(UserError("gpu-1 was already approved by @U0BRUNO.", hint="list"))
    theirs = problem_of(CommandError("I don't know 'for @U0BRUNO'."))
    assert ours.blocks[0]["text"]["text"] == "gpu-1 was already approved by <@U0BRUNO>."
    assert ours.text == "gpu-1 was already approved by <@U0BRUNO>. Try /gpu list"
    assert "<@" not in theirs.text + str(theirs.blocks)


@pytest.mark.parametrize(
    "unseen",
    [
        "\u200b", "\u200e", "\u200f", "\u061c", "\u2060", "\ufeff", "\u00ad", "\u180e",
        "\u202e", "\u2066", "\U000e0041", "\ue000", "\ud800",
    ],
)  # fmt: skip
def test_what_is_not_seen_is_not_there(unseen):
    assert shown(f"Br{unseen}uno") == "Bruno"
    assert shown(unseen) == ""


def test_the_joiners_of_scripts_and_signs_stay():
    for text in ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\U0001f469\u200d\U0001f4bb"):
        assert shown(text) == text
