"""Parts by key: `--key value`, `--key=value`, `key=value`."""

from collections.abc import Callable

from bot.language import durations, machines, money, people, places, spans, terms
from bot.language.moments import moment_at
from bot.language.quantities import number_at, whole
from bot.language.refusals import RefusalError
from bot.language.scene import Found, Part, Scene, one
from bot.language.tokens import Kind


def keyed(scene: Scene, at: int) -> Found | None:
    """Recognise a key and its value. Raises RefusalError when the value is none of the key's."""
    tokens = scene.tokens
    item = tokens.items[at]
    if item.kind is not Kind.KEY:
        return None
    found = _READERS[item.key](scene, at + 1) if at + 1 < tokens.count else None
    if found is None:
        end = min(at + 2, tokens.count)
        raise RefusalError(
            "key_value", tokens=(at, end), said=tokens.said(at, end)[:60], key=item.key
        )
    return found[0], tuple(part._replace(start=at) for part in found[1])


def _type(scene: Scene, at: int) -> Found | None:
    thing = machines.thing_at(scene, at)
    if thing is None or thing.kind not in {"type", "accelerator"}:
        return None
    parts = [Part(thing.kind, thing.readings, at, thing.end)]
    if thing.ml:
        parts.append(Part("ml", (True,), at, thing.end))
    return thing.end, tuple(parts)


def _number(field: str) -> Callable[[Scene, int], Found | None]:
    def read(scene: Scene, at: int) -> Found | None:
        number = number_at(scene.tokens, at)
        if number is None:
            return None
        return one(field, whole(number, (at, at + 1)), at, at + 1)

    return read


def _for(scene: Scene, at: int) -> Found | None:
    return durations.duration(scene, at) or people.owner(scene, at, keyed=True)


def _start(scene: Scene, at: int) -> Found | None:
    found = spans.when(scene, at)
    if found and found[1][0].field in {"start", "asap", "clock", "after", "span"}:
        return found
    moment = moment_at(scene, at, led=True)
    if moment is None:
        return None
    field = "start" if moment[1].day else "clock"
    return one(field, moment[1], at, moment[0])


def _moment(field: str) -> Callable[[Scene, int], Found | None]:
    def read(scene: Scene, at: int) -> Found | None:
        moment = moment_at(scene, at, led=True)
        return one(field, moment[1], at, moment[0]) if moment else None

    return read


def _money(name: str) -> Callable[[Scene, int], Found | None]:
    return lambda scene, at: money.money(scene, at, keyed=name)


def _yes(field: str) -> Callable[[Scene, int], Found | None]:
    def read(scene: Scene, at: int) -> Found | None:
        found = scene.tokens.phrase("yes", at)
        return one(field, found[1], at, found[0]) if found else None

    return read


def _verbatim(field: str) -> Callable[[Scene, int], Found | None]:
    def read(scene: Scene, at: int) -> Found | None:
        item = scene.tokens.items[at]
        if item.kind not in {Kind.WORD, Kind.STRING}:
            return None
        text = people.reason_text(item.text, (at, at + 1))
        return one(field, text, at, at + 1) if text.strip() else None

    return read


def _owner(scene: Scene, at: int) -> Found | None:
    return people.owner(scene, at, keyed=True)


def _channel(scene: Scene, at: int) -> Found | None:
    return people.channel(scene, at, keyed=True)


def _reason(scene: Scene, at: int) -> Found | None:
    return people.reason(scene, at, keyed=True)


_READERS: dict[str, Callable[[Scene, int], Found | None]] = {
    "type": _type,
    "count": _number("count"),
    "gpus": _number("gpus"),
    "minimum": _number("minimum"),
    "for": _for,
    "strict": _yes("strict"),
    "start": _start,
    "latest-start": _moment("latest"),
    "after": _moment("after"),
    "by": _moment("by"),
    "until": _moment("until"),
    "max": _money("max"),
    "hourly": _money("hourly"),
    "region": places.regions,
    "target": terms.target,
    "spot": _yes("interruptible"),
    "use": terms.keyed_use,
    "owner": _owner,
    "team": _verbatim("team"),
    "channel": _channel,
    "platform": _verbatim("platform"),
    "reason": _reason,
}
