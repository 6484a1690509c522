"""`gpubot plan` and `gpubot policy explain`: decisions without Slack and without a purchase."""

import re
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bot.catalog import packaged
from bot.domain.decision import Decision
from bot.domain.errors import SettingsError
from bot.domain.market import Kind, Market
from bot.domain.request import Parsed, Problem, Request, Status
from bot.domain.rules import Rules
from bot.domain.sharing import Elsewhere
from bot.engine import decide
from bot.language import parse
from bot.policy.accounts import elsewhere
from bot.policy.configuration import Configuration
from bot.policy.explaining import explain, place_words
from bot.settings import read_configuration

_LAST_YEAR = 9900
"""Later years leave no room for a request that starts some years ahead."""
_LONG_HOURS = re.compile(r"\b(\d+\.\d{2,}|\d{4,}(?:\.\d+)?) h\b")
_LONG_DOLLARS = re.compile(r"\$(\d{4,})(?=\D|$)")
_MANY_HOURS = 100
DECIDED = ("reserve", "plan", "watch")


def planned(
    text: str,
    *,
    market: Path | None,
    save_market: Path | None,
    now: datetime | None,
    tz: str,
    locale: str,
    config: Path | None,
) -> dict[str, Any]:
    """Return the answer of contracts.md §2 as a JSON object.

    Without `now` the recorded market's own time counts, else the clock. Without `config` every
    region and kind of the market is allowed.

    Raises:
        SettingsError: the configuration or the market file can't be read, or not be saved.
    """
    configuration = read_configuration(config) if config else None
    recorded = _recorded(market) if market else None
    instant = now or (recorded.as_of if recorded else datetime.now(UTC))
    parsed = parse(text, now=instant, zone=tz, locale=locale, catalog=packaged())
    if parsed.status is not Status.REFUSED and parsed.command not in DECIDED:
        return _not_decided(parsed)
    if parsed.status is not Status.OK or parsed.request is None:
        return _answer(parsed, None)
    read = recorded or _live(parsed.request, configuration)
    if save_market:
        _save(read, save_market)
    decision = decide(
        parsed.request,
        read,
        configuration.rules if configuration else Rules(),
        now=instant,
        zone=tz,
        catalog=packaged(),
    )
    return _answer(parsed, decision)


def explained(
    text: str, *, user: str, config: Path | None, market: Path | None, now: datetime | None = None
) -> dict[str, Any]:
    """Return who would have to approve the text if the person asked for it, as sentences.

    The total is that of the decision (from `market`, or live), or the text's own cap when
    nothing fits.

    Raises:
        SettingsError: no configuration, or one that can't be read.
    """
    if config is None:
        raise SettingsError("name the administrator's file with --config or GPUBOT_CONFIG")
    configuration = read_configuration(config)
    answer = planned(
        text, market=market, save_market=None, now=now, tz="UTC", locale="en-US", config=config
    )
    if answer["decision"] is None:
        return {"status": answer["status"], "total_usd": None, "sentences": _undecided(answer)}
    options = answer["decision"]["options"]
    total = options[0]["total_usd"] if options else answer["request"]["max_total_usd"]
    if total is None:
        return {
            "status": "ok",
            "total_usd": None,
            "sentences": [_nothing_to_ask(answer["decision"]["not_read"])],
        }
    teams = [team.name for team in configuration.teams if user in team.members]
    team = answer["request"]["team"] or (teams[0] if len(teams) == 1 else None)
    return {
        "status": "ok",
        "total_usd": total,
        "sentences": [
            *explain(Decimal(total), configuration, requester=user, team=team),
            *place_words(_passage(answer, team, configuration)),
            _whose_sum(options, recorded=market is not None),
        ],
    }


def _passage(
    answer: dict[str, Any], team: str | None, configuration: Configuration
) -> Elsewhere | None:
    """Return how the team gets at the first option; None when it is used where it is bought."""
    options = answer["decision"]["options"]
    if not options:
        return None
    return elsewhere(
        Kind(options[0]["kind"]),
        ultraserver=answer["request"]["ultraserver_type"] is not None,
        buyer=options[0]["account"],
        team=team,
        configuration=configuration,
    )


def _whose_sum(options: list[dict[str, Any]], *, recorded: bool) -> str:
    """Return what the sum pays for, and by which market."""
    market = "the recorded market" if recorded else "the market as just read"
    if not options:
        return f"Nothing fits in {market}; the sum is the text's own cap."
    first = options[0]
    what = f"{first['instance_count']} x {first['instance_type']}, {first['kind']}"
    return f"The sum is that of {what} in {first['zone'] or first['region']}, by {market}."


def _undecided(answer: dict[str, Any]) -> list[str]:
    """Return why nothing could be decided, or what has to be said first, with the choices."""
    if answer["problem"]:
        return [answer["problem"]["message"]]
    return [
        " ".join([one["question"], *(f"[{each['label']}]" for each in one["choices"])])
        for one in answer["questions"]
    ]


def _nothing_to_ask(not_read: list[dict[str, Any]]) -> str:
    if not not_read:
        return "Nothing fits, so nobody is asked."
    unread = sorted({f"{row['market']} in {row['region']} ({row['why']})" for row in not_read})
    return (
        f"I can't say: {', '.join(unread)} could not be read, which is not the same as no capacity."
    )


def _not_decided(parsed: Parsed) -> dict[str, Any]:
    problem = Problem(
        message=f"{parsed.command} asks for no machines, so there is nothing to decide.",
        hint="plan 2 p5.48xlarge for 3 days",
    )
    return _answer(
        parsed.model_copy(
            update={"status": Status.REFUSED, "request": None, "questions": (), "problem": problem}
        ),
        None,
    )


def _answer(parsed: Parsed, decision: Decision | None) -> dict[str, Any]:
    said = parsed.model_dump(mode="json", include={"status", "request", "questions", "problem"})
    return {
        "status": said["status"],
        "request": said["request"],
        "questions": said["questions"],
        "problem": said["problem"],
        "decision": decision.model_dump(mode="json") if decision else None,
    }


def _recorded(path: Path) -> Market:
    try:
        market = Market.model_validate_json(path.read_bytes())
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror})") from None
    except ValidationError as error:
        raise SettingsError(f"{path}: {_first_fault(error)}") from None
    if market.as_of.year > _LAST_YEAR:
        raise SettingsError(f"{path}: as_of: no market was read in the year {market.as_of.year}")
    return market


def _first_fault(error: ValidationError) -> str:
    """Return where the first fault of a market file is, and what it is."""
    fault = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in fault["loc"]) or "the file"
    if fault["type"] == "extra_forbidden":
        return f"{place} is no key of a market file; leave it out or correct it"
    if fault["type"] == "missing":
        return f"{place} is missing"
    return f"{place}: {fault['msg']}"


def _save(market: Market, path: Path) -> None:
    try:
        path.write_text(market.model_dump_json(indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path}: cannot be written ({error.strerror})") from None


def _live(request: Request, configuration: Configuration | None) -> Market:
    if configuration is None:
        raise SettingsError(
            "no --market and no --config: name a recorded market, or the administrator's file"
            " whose accounts are to be read"
        )
    from bot.aws import AwsMarket  # noqa: PLC0415 — boto3 only when a live market is read
    from bot.clocks import SystemClock  # noqa: PLC0415 — as above

    reader = AwsMarket(
        configuration.accounts,
        clock=SystemClock(),
        catalog=packaged(),
        refusals=dict,
        kinds=configuration.kinds,
        default_target=configuration.default_target,
    )
    return reader.read(request)


def in_words(answer: dict[str, Any]) -> str:
    """Return the answer as lines for a terminal."""
    if answer["problem"]:
        return f"{answer['problem']['message']}\nTry: {answer['problem']['hint']}"
    if answer["decision"] is None:
        lines = []
        for question in answer["questions"]:
            lines.append(question["question"])
            lines += [f"  - {choice['label']}" for choice in question["choices"]]
        return "\n".join(lines)
    decision = answer["decision"]
    nothing = "Nothing that could be read fits." if decision["not_read"] else "Nothing fits."
    lines = [_option(option) for option in decision["options"]] or [nothing]
    lines += [
        f"   mind: {warning['text']}"
        for option in decision["options"]
        if option["rank"] == decision["recommended"]
        for warning in option["warnings"]
    ]
    lines += [
        f"   not: {row['kind']} {'+'.join(row['refs'])} ({row['reason']['text']})"
        for row in decision["rejected"]
    ]
    lines += [
        f"   not read: {row['market']} in {row['region']} ({row['why']})"
        for row in decision["not_read"]
    ]
    lines += [f"   {advice['text']}" for advice in decision["advice"]]
    return "\n".join(readable(line) for line in lines)


def readable(line: str) -> str:
    """Return a line with thousands apart and hours that no clock shows rounded; for people only."""
    line = _LONG_HOURS.sub(lambda found: f"{_rounded(Decimal(found[1]))} h", line)
    return _LONG_DOLLARS.sub(lambda found: f"${int(found[1]):,}", line)


def _rounded(hours: Decimal) -> str:
    place = Decimal(1) if hours >= _MANY_HOURS else Decimal("0.1")
    return f"{hours.quantize(place, rounding=ROUND_HALF_UP):,}"


def _minute(instant: str) -> str:
    """Return an instant of the answer for people: 2027-03-18 11:00 UTC."""
    return f"{datetime.fromisoformat(instant).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _option(option: dict[str, Any]) -> str:
    segment = option["segments"][0]
    return (
        f"{option['rank']}. {option['kind']} {option['instance_count']} x"
        f" {option['instance_type']} in {option['zone'] or option['region']}:"
        f" ${option['total_usd']} (${option['usd_per_accelerator_hour']} per GPU-hour),"
        f" {_minute(segment['start'])} to {_minute(option['usable_end'])}, {option['certainty']}"
    )
