"""The verbs that are no request: their words, IDs and own arguments."""

import re
from collections.abc import Callable
from decimal import Decimal
from difflib import SequenceMatcher, get_close_matches
from typing import NamedTuple

from bot.domain.values import rate_text
from bot.language import durations, machines, people, reading
from bot.language.refusals import RefusalError
from bot.language.scene import Scene
from bot.language.settle_timing import typed_hours
from bot.language.settling import Option, Settling
from bot.language.tokens import Kind
from bot.language.words import LANGUAGES, LEXICON, fold

REQUESTS = frozenset({"reserve", "plan", "watch"})
_MODEL = "model="
_TIMES = re.compile(r"x\d+|\d+x")
_ID = re.compile(r"(?:gpu-|#)?(\d{1,12})")
_SUGGESTED_HOURS = (24, 72, 168)
_NEAREST = 6
_UNMARKED = str.maketrans("", "", "`*")
"""Slack's marks for code and bold, which people paste along."""
_FORMS = {
    words.code: tuple(
        fold(form) for forms in (*words.verbs.values(), *words.own_verbs) for form in forms.split()
    )
    for words in LANGUAGES
}
"""Every form of every verb, by language."""


class Verb(NamedTuple):
    """A verb that was said: its canonical word, and the token after it."""

    name: str
    end: int


class Deed(NamedTuple):
    """What a verb will do: its ID and arguments (as the contract prints them), and its echo."""

    id: str | None
    arguments: dict[str, str | int | None]
    line: str
    echo: str


def verb_at(scene: Scene, at: int) -> Verb | None:
    """Return the verb at this token.

    `para` is a verb only alone, and `budget` no verb when a machine follows: both begin parts.
    """
    tokens = scene.tokens
    if at >= tokens.count or tokens.items[at].kind is not Kind.WORD:
        return None
    word = tokens.keys[at]
    name = LEXICON.own_verbs.get(scene.language, {}).get(word) or LEXICON.verbs.get(word)
    if name is None or (word == "para" and _says_more(scene, at + 1)):
        return None
    if name == "budget" and word == "budget" and _names_machine(scene, at + 1):
        return None
    return Verb(name, at + 1)


def _says_more(scene: Scene, at: int) -> bool:
    """Return whether anything that means something follows."""
    while noise := scene.tokens.phrase("noise", at):
        at = noise[0]
    return at < scene.tokens.count


def _names_machine(scene: Scene, at: int) -> bool:
    tokens = scene.tokens
    try:
        return any(machines.machines(scene, later) for later in range(at, tokens.count))
    except RefusalError:
        return True


def unknown_verb(scene: Scene, at: int) -> RefusalError:
    """Return the refusal of a first word that is no verb; hints are the line with a near one."""
    near = _nearest(scene.tokens.keys[at], scene.language)
    original = scene.tokens.normal.original
    unmarked = original.translate(_UNMARKED)
    return RefusalError(
        "unknown_verb",
        tokens=(at, at + 1),
        lines=(unmarked,) if unmarked != original else (),
        mend=(*near, "reserve", "help", ""),
        said=scene.tokens.said(at, at + 1)[:60],
    )


def _nearest(word: str, language: str) -> list[str]:
    """Return the verbs most like a word: those of the person's language first, then English ones.

    A verb of a third language comes before them only when it is clearly nearer.
    """
    likeness: dict[str, float] = {}
    for lead, verbs in ((0.0, LEXICON.verbs), (0.05, _FORMS["en"]), (0.1, _FORMS[language])):
        for verb in get_close_matches(word, verbs, _NEAREST, 0.3):
            likeness[verb] = SequenceMatcher(None, verb, word).ratio() + lead
    return sorted(likeness, key=lambda verb: -likeness[verb])[:_NEAREST]


class _Reader:
    """Reads a verb's own parts in order, and collects what must be asked."""

    def __init__(self, scene: Scene, at: int, settling: Settling) -> None:
        self.scene = scene
        self.tokens = scene.tokens
        self.at = at
        self.settling = settling

    def skip(self, *roles: str) -> None:
        """Pass words that mean nothing here."""
        for role in (*roles, "noise"):
            self.at = self.tokens.after(role, self.at)

    def id(self) -> str | None:
        """Return the ID here, if there is one."""
        self.skip()
        found = _ID.fullmatch(self.tokens.key(self.at))
        if not found or int(found[1]) == 0:
            return None
        self.at += 1
        return f"gpu-{int(found[1])}"

    def needed_id(
        self, own: Callable[[], object | None] | None = None
    ) -> tuple[str | None, object | None]:
        """Return the ID, said or picked, and the verb's own part, in either order.

        Asks for an ID when the text ends without one; refuses other words in its place.
        """
        said = own() if own else None
        found = self.id()
        if found is None and self.at < self.tokens.count:
            span = (self.at, self.at + 1)
            raise RefusalError(
                "needs_id", tokens=span, mend=("42",), said=self.tokens.said(*span)[:60]
            )
        if own and said is None:
            said = own()
        self.end()
        if found is None:
            picked = self.settling.choose("id", [], ask=True, free=_typed_id)
            return (str(picked) if picked is not None else None), said
        self.settling.fields["id"] = found
        return found, said

    def end(self) -> None:
        """Refuse what is left over."""
        self.skip()
        if self.at < self.tokens.count:
            raise reading.leftover_refusal(self.scene, ((self.at, self.tokens.count),))


def _typed_id(text: str) -> str | None:
    found = _ID.fullmatch(text.strip().lower())
    return f"gpu-{int(found[1])}" if found and int(found[1]) else None


def deed(scene: Scene, verb: Verb, settling: Settling) -> Deed | None:
    """Return what the verb will do, or None when something must be asked first.

    Raises:
        RefusalError: something is missing that no question can settle, or left over.
    """
    reader = _Reader(scene, verb.end, settling)
    return _DEEDS[verb.name](reader, verb.name)


def _bare(reader: _Reader, verb: str) -> Deed | None:
    reader.end()
    return Deed(None, {}, verb, reader.settling.speech.say(f"do_{verb}"))


def _with_id(reader: _Reader, verb: str) -> Deed | None:
    found, _ = reader.needed_id()
    if found is None:
        return None
    return Deed(found, {}, f"{verb} {found}", reader.settling.speech.say(f"do_{verb}", id=found))


def _status(reader: _Reader, verb: str) -> Deed | None:
    found = reader.id()
    reader.end()
    say = reader.settling.speech.say
    if found is None:
        return Deed(None, {}, verb, say("do_status_all"))
    return Deed(found, {}, f"{verb} {found}", say("do_status", id=found))


def _list(reader: _Reader, verb: str) -> Deed | None:
    reader.skip()
    found = reader.tokens.phrase("scope", reader.at)
    scope = str(found[1]) if found else None
    reader.at = found[0] if found else reader.at
    reader.end()
    line = f"{verb} {scope}" if scope else verb
    say = reader.settling.speech.say
    echo = say("do_list", scope=say(f"scope_{scope or 'mine'}"))
    return Deed(None, {"scope": scope}, line, echo)


def _extend(reader: _Reader, verb: str) -> Deed | None:
    from bot.language.echoes import length  # noqa: PLC0415
    from bot.language.lines import duration_text  # noqa: PLC0415

    def duration() -> object | None:
        begin = reader.at
        reader.skip("extend_by")
        said = durations.duration(reader.scene, reader.at)
        if said and len(said[1]) == 1 and len(said[1][0].readings) == 1:
            reader.at = said[0]
            return said[1][0].readings[0]
        if reader.at > begin:
            durations.refuse_unitless(reader.scene, begin, reader.at)
        return None

    found, hours = reader.needed_id(duration)
    if hours is None:
        options = [Option(Decimal(n), f"{n} h", str(n)) for n in _SUGGESTED_HOURS]
        hours = reader.settling.choose("duration_hours", options, ask=True, free=typed_hours)
    if found is None or not isinstance(hours, Decimal):
        return None
    speech = reader.settling.speech
    return Deed(
        found,
        {"duration_hours": rate_text(hours)},
        f"{verb} {found} by {duration_text(hours)}",
        speech.say("do_extend", id=found, length=length(hours, speech)),
    )


def _handover(reader: _Reader, verb: str) -> Deed | None:
    def mention() -> object | None:
        reader.skip("handover_to")
        item = reader.tokens.items[reader.at] if reader.at < reader.tokens.count else None
        if item is None or item.kind not in {Kind.USER, Kind.GROUP}:
            return None
        reader.at += 1
        return item.text if item.kind is Kind.USER else ""

    found, person = reader.needed_id(mention)
    if not person:
        person = reader.settling.choose("person", [], ask=True, free=_typed_person)
    if found is None or person is None:
        return None
    echo = reader.settling.speech.say("do_handover", id=found, person=person)
    return Deed(found, {"person": str(person)}, f"{verb} {found} <@{person}>", echo)


def _typed_person(text: str) -> str | None:
    return text if text[:1] in {"U", "W"} and text.isalnum() else None


def _deny(reader: _Reader, verb: str) -> Deed | None:
    from bot.language.lines import quoted  # noqa: PLC0415

    def given() -> object | None:
        reader.skip()
        if reader.at >= reader.tokens.count:
            return None
        item = reader.tokens.items[reader.at]
        keyed = item.kind is Kind.KEY and item.key == "reason"
        said = people.reason(
            reader.scene, reader.at + keyed, keyed=keyed or item.kind is Kind.STRING
        )
        if said is None:
            return None
        reader.at = said[0]
        return next(iter(said[1][0].readings), "")

    found, reason = reader.needed_id(given)
    if not reason:
        reason = reader.settling.choose("reason", [], ask=True, free=lambda text: text or None)
    if found is None or reason is None:
        return None
    echo = reader.settling.speech.say("do_deny", id=found, reason=reason)
    return Deed(found, {"reason": str(reason)}, f"{verb} {found} {quoted(str(reason))}", echo)


def _endpoint(reader: _Reader, verb: str) -> Deed | None:
    reader.skip()
    tokens, settling = reader.tokens, reader.settling
    said = tokens.phrase("action", reader.at)
    action: object | None = said[1] if said else None
    reader.at = said[0] if said else reader.at
    held = reader.id() if action is not None else None
    model: object | None = _model(reader) if action is not None else None
    count: int | None = None
    found = reading.recognise(reader.scene, reader.at) if reader.at < tokens.count else None
    if action is not None and found and len(found[1]) == 1 and found[1][0].field == "count":
        value = found[1][0].readings[0]
        count, reader.at = (value if isinstance(value, int) else None), found[0]
    reader.end()
    actions = [Option(name, name, name) for name in ("create", "status", "delete")]
    if action is None:
        action = settling.choose("action", actions, ask=True)
    if model is None and (action == "create" or (action == "delete" and held is None)):
        model = settling.choose("model", [], ask=True, free=lambda text: text.strip() or None)
        if model is None:
            return None
    if action is None:
        return None
    words = [verb, str(action), *((held,) if held is not None else ())]
    if model is not None:
        from bot.language.lines import quoted  # noqa: PLC0415

        words.append(str(model) if str(model).replace("-", "").isalnum() else quoted(str(model)))
    if count is not None:
        words.append(f"x{count}")
    say = settling.speech.say
    shown = " ".join(filter(None, (str(model or held or ""), f"x{count}" if count else "")))
    echo = say("do_endpoint", action=say(f"action_{action}"), model=shown or "-")
    arguments = {
        "action": str(action),
        "model": str(model) if model is not None else None,
        "count": count,
    }
    return Deed(held, arguments, " ".join(words), echo)


def _model(reader: _Reader) -> str | None:
    """Return the model's name here: a word, a quoted text, or either after `model=`."""
    tokens = reader.tokens
    if reader.at < tokens.count and tokens.items[reader.at].text == _MODEL:
        reader.at += 1
    if reader.at >= tokens.count or tokens.items[reader.at].kind not in {Kind.WORD, Kind.STRING}:
        return None
    item = tokens.items[reader.at]
    if item.kind is Kind.WORD and _TIMES.fullmatch(item.key):
        return None
    reader.at += 1
    return item.text.removeprefix(_MODEL)


def _market(reader: _Reader, verb: str) -> Deed | None:
    reader.skip("of", "purpose")
    names, settling = reader.scene.names, reader.settling
    key = reader.tokens.key(reader.at)
    field, what = "", ""
    if key in names.families and key not in names.types:
        field, what, reader.at = "family", key, reader.at + 1
    elif key and (thing := machines.thing_at(reader.scene, reader.at)):
        field = "instance_type" if thing.kind == "type" else "accelerator"
        options = [Option(name, str(name), str(name)) for name in thing.readings]
        reader.at = thing.end
        chosen = settling.choose(field, options)
        what = str(chosen) if chosen is not None else ""
    reader.end()
    if not field:
        options = [Option(name, name, name) for name in ("H100", "H200", "B200", "p5", "p5en")]
        picked = settling.choose("what", options, ask=True, free=lambda text: _known(names, text))
        if picked is None:
            return None
        what = str(picked)
        lowered = what.lower()
        field = (
            "instance_type"
            if lowered in names.types
            else "family"
            if lowered in names.families
            else "accelerator"
        )
    if not what:
        return None
    echo = settling.speech.say("do_market", what=what)
    return Deed(None, {field: what}, f"{verb} {what}", echo)


def _known(names: object, text: str) -> str | None:
    from bot.language.names import Names, squash  # noqa: PLC0415

    if not isinstance(names, Names):
        return None
    lowered = text.strip().lower()
    if lowered in names.types or lowered in names.families:
        return lowered
    found = names.accelerators.get(squash(text), ())
    return found[0] if len(found) == 1 else None


def _help(reader: _Reader, verb: str) -> Deed | None:
    reader.skip()
    about: str | None = None
    if reader.at < reader.tokens.count:
        word = reader.tokens.key(reader.at)
        about = LEXICON.own_verbs.get(reader.scene.language, {}).get(word)
        about = about or LEXICON.verbs.get(word)
        if about is None:
            raise unknown_verb(reader.scene, reader.at)
        reader.at += 1
    reader.end()
    line = f"{verb} {about}" if about else verb
    say = reader.settling.speech.say
    echo = say("do_help_verb", verb=about) if about else say("do_help")
    return Deed(None, {"verb": about}, line, echo)


_DEEDS: dict[str, Callable[[_Reader, str], Deed | None]] = {
    "status": _status,
    "list": _list,
    "extend": _extend,
    "handover": _handover,
    "deny": _deny,
    "endpoint": _endpoint,
    "market": _market,
    "help": _help,
    **dict.fromkeys(("cancel", "release", "approve", "launch", "health"), _with_id),
    **dict.fromkeys(("calendar", "budget", "digest", "settings", "stop", "resume"), _bare),
}
