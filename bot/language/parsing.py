"""From a text to its one answer: ok, ask or refused. Any text gets a valid one."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo

from bot.catalog import Catalog
from bot.domain.request import Parsed, Problem, Question, Request, Status
from bot.language import reading, verbs
from bot.language.echoes import echo_request
from bot.language.lines import canonical
from bot.language.names import Names, names_of
from bot.language.normalise import normalise
from bot.language.refusals import RefusalError
from bot.language.scene import Scene
from bot.language.settle_machines import settle_machines
from bot.language.settle_terms import settle_terms
from bot.language.settle_timing import settle_timing
from bot.language.settling import Settling
from bot.language.speech import language_of, speech_of
from bot.language.tokens import Tokens
from bot.language.zones import zone_named

_EXAMPLE = "reserve 2 p5.48xlarge for 3 days"
_ORDER = {
    field: place
    for place, field in enumerate(("command", "id", "action", "what", *Request.model_fields))
}


_MENDS = {
    "pt": {
        "tomorrow": "amanhã",
        "1 day": "1 dia",
        "3 days": "3 dias",
        "30 days": "30 dias",
        "2 weeks": "2 semanas",
    },
    "es": {
        "tomorrow": "mañana",
        "1 day": "1 día",
        "3 days": "3 días",
        "30 days": "30 días",
        "2 weeks": "2 semanas",
    },
}
"""What a rule proposes, in the person's own words."""

_HALF = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair: no character, and nothing that JSON or a database can hold."""

_LEADERS = (
    "start at after by before until between to in lasting strict number one cap because purpose "
    "region_in channel_in month weekday next today vague use_lead"
)
_LEADS = frozenset(_LEADERS.split())
"""Roles of words that lead a part; such a first word is no slip of a verb."""


class _Reader:
    """Reads texts for one person at one time; each text once."""

    __slots__ = ("answers", "language", "names", "now", "speech", "zone")

    def __init__(
        self, *, now: datetime, zone: tzinfo, locale: str, names: Names, answers: Mapping[str, str]
    ) -> None:
        self.now = now
        self.zone = zone
        self.language = language_of(locale)
        self.speech = speech_of(locale)
        self.names = names
        self.answers = answers

    def read(self, text: str) -> Parsed:
        """Return ok or ask. Raises RefusalError, with the tokens when they could be read."""
        normal = normalise(text)
        tokens = Tokens(normal, self.language)
        scene = Scene(
            tokens, self.names, self.now, self.zone, self.now.astimezone(self.zone).date(),
            self.language,
        )  # fmt: skip
        at = 0
        while (noise := tokens.phrase("noise", at)) and verbs.verb_at(scene, at) is None:
            if reading.recognise(scene, at):
                break
            at = noise[0]
        verb = verbs.verb_at(scene, at)
        try:
            if verb is not None and verb.name not in verbs.REQUESTS:
                return self._deed(scene, verb)
            return self._request(scene, verb, at)
        except RefusalError as refusal:
            self._place(refusal, tokens)
            if refusal.command is None and verb is not None:
                refusal.command = verb.name
            raise

    def _place(self, refusal: RefusalError, tokens: Tokens) -> None:
        """Turn a span of tokens into a place in the text, and the mends into whole lines."""
        if refusal.tokens is None or not tokens.count:
            return
        start, end = refusal.tokens
        end = min(max(end, start + 1), tokens.count)
        refusal.place = tokens.place(start, end)
        before, after = tokens.said(0, start), tokens.said(end, tokens.count)
        own = _MENDS.get(self.language, {})
        mended = (
            " ".join(filter(None, (before, own.get(mend, mend), after))) for mend in refusal.mend
        )
        refusal.lines = (*refusal.lines, *mended)

    def _deed(self, scene: Scene, verb: verbs.Verb) -> Parsed:
        settling = Settling(scene, (), self.answers, self.speech)
        done = verbs.deed(scene, verb, settling)
        questions = _sorted(settling)
        if done is None or questions:
            known = settling.fields.get("id")
            about = known if isinstance(known, str) else None
            return _answer(Status.ASK, verb.name, id=about, questions=questions)
        return _answer(
            Status.OK,
            verb.name,
            id=done.id,
            arguments=done.arguments,
            line=done.line,
            echo=done.echo,
        )

    def _request(self, scene: Scene, verb: verbs.Verb | None, at: int) -> Parsed:
        start = verb.end if verb else at
        parts = reading.read(scene, start)
        command = verb.name if verb else "reserve"
        if parts.leftover:
            first = parts.leftover[0][0]
            refusal = reading.leftover_refusal(scene, parts.leftover)
            if verb is None and first == at and refusal.code == "leftover" and _is_word(scene, at):
                refusal = verbs.unknown_verb(scene, at)
            raise refusal
        settling = Settling(scene, parts.found, self.answers, self.speech)
        if (
            verb is None
            and parts.found
            and not settling.has("type", "accelerator", "gpus", "count", "machines")
        ):
            self._without_machine(settling)
        settle_machines(settling)
        settle_terms(settling)
        settle_timing(settling, needs_duration=command != "watch")
        request = Request(**settling.fields)  # type: ignore[arg-type]  # fields are settled by name
        questions = _sorted(settling)
        echo = echo_request(
            request,
            command=command,
            zone=self.zone,
            speech=self.speech,
            names=self.names,
            asked=frozenset(settling.questions),
        )
        if questions:
            return _answer(Status.ASK, command, request=request, questions=questions, echo=echo)
        line = canonical(request, command=command, zone=self.zone)
        return _answer(Status.OK, command, request=request, line=line, echo=echo)

    def _without_machine(self, settling: Settling) -> None:
        """Refuse a cap alone: it is as likely a question about the budget."""
        if set(settling.parts) <= {"total", "hourly"}:
            span = settling.span("total", "hourly")
            raise RefusalError("no_machine", tokens=span, mend=(), lines=("budget",))


def _is_word(scene: Scene, at: int) -> bool:
    """Return whether a word could be meant as a verb: it leads no part, and is no number or key."""
    item = scene.tokens.items[at]
    leads_a_part = not _LEADS.isdisjoint(scene.tokens.starts[at])
    leads_a_part = leads_a_part or item.text[:1].isdigit()
    return not (leads_a_part or item.text.startswith("-") or "=" in item.text)


def _sorted(settling: Settling) -> tuple[Question, ...]:
    questions = settling.questions.values()
    return tuple(sorted(questions, key=lambda asked: _ORDER.get(asked.field, len(_ORDER))))


def _answer(
    status: Status,
    command: str | None,
    *,
    id: str | None = None,  # noqa: A002 - the contract's name
    arguments: dict[str, str | int | None] | None = None,
    request: Request | None = None,
    line: str | None = None,
    echo: str | None = None,
    questions: tuple[Question, ...] = (),
    problem: Problem | None = None,
) -> Parsed:
    return Parsed(
        status=status,
        command=command,
        id=id,
        arguments=arguments or {},
        request=request,
        line=line,
        echo=echo,
        questions=questions,
        problem=problem,
    )


def parse(
    text: str,
    *,
    now: datetime,
    zone: str,
    locale: str,
    catalog: Catalog,
    answers: Mapping[str, str] | None = None,
) -> Parsed:
    """Return what the text after /gpu means to this person now; never raises.

    `answers` are choices already picked (question field to choice value); they settle only
    what the text itself leaves to ask. An unknown zone is read as UTC.
    """
    here = UTC if zone == "UTC" else zone_named(zone) or UTC
    reader = _Reader(
        now=now.astimezone(UTC),
        zone=here,
        locale=locale,
        names=names_of(catalog),
        answers=answers or {},
    )
    try:
        return reader.read(_HALF.sub("\N{REPLACEMENT CHARACTER}", text))
    except RefusalError as refusal:
        problem = Problem(
            message=reader.speech.say(refusal.code, **refusal.values),
            hint=_hint(reader, refusal),
            at=refusal.place,
        )
        return _answer(Status.REFUSED, refusal.command, problem=problem)


def _hint(reader: _Reader, refusal: RefusalError) -> str:
    """Return the first proposed line that parses, else an example that always does."""
    for line in (proposed.strip() for proposed in refusal.lines):
        if not line:
            continue
        try:
            reader.read(line)
        except RefusalError:
            continue
        return line
    return _EXAMPLE


def echo_of(
    request: Request,
    *,
    command: str,
    now: datetime,
    zone: str,
    locale: str,
    catalog: Catalog,
) -> str:
    """Return a stored request said back in this person's zone and language.

    `now` is when it is said; nothing in the sentence is told relative to it.
    """
    del now
    return echo_request(
        request,
        command=command,
        zone=UTC if zone == "UTC" else zone_named(zone) or UTC,
        speech=speech_of(locale),
        names=names_of(catalog),
    )


def line_of(request: Request, *, command: str, zone: str) -> str:
    """Return the canonical command that parses to this request for somebody in this zone."""
    here = UTC if zone == "UTC" else zone_named(zone) or UTC
    return canonical(request, command=command, zone=here)
