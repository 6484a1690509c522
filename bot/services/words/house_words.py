"""What the product knows of a person, and for administrators the policy in force. Pure."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from bot.domain.records import Person, Switch
from bot.domain.saying import Code, Mention, Phrase, Section, Sentence
from bot.domain.values import exact_dollars, how_many, rate_text
from bot.policy.configuration import Configuration, Tier
from bot.policy.permitting import Standing, asking_words, may_ask, teams_of
from bot.policy.tiers import everyone
from bot.services.words.quiet import NIGHT_FROM, NIGHT_TO

LANGUAGES = {"en": "English", "pt": "Portuguese", "es": "Spanish"}
MOST_MEMBERS = 8


def own_section(standing: Standing, person: Person, configuration: Configuration) -> Section:
    """Return what counts for this person: zone, language, teams, rights, quiet hours."""
    language = LANGUAGES.get(person.locale.replace("_", "-").split("-")[0].lower(), "English")
    teams = ", ".join(team.name for team in teams_of(standing, configuration))
    obstacle = may_ask(standing, configuration)
    sentences: list[Sentence] = [
        (f"Time zone: {person.zone}. Language: {language}. Both come from your Slack profile.",),
        (f"Teams that pay for you: {teams}." if teams else "No team pays for you.",),
        ("You may ask for capacity." if obstacle is None else asking_words(obstacle),),
        (
            (
                f"Quiet hours: {NIGHT_FROM:%H:%M} to {NIGHT_TO:%H:%M} in your zone. What can wait"
                " is said in the morning; the last reminders before an end and what may be lost"
                " are said at once."
            ),
        ),
    ]
    limits = [
        tier.up_to_usd
        for tier in configuration.approval.tiers
        if standing.among((*everyone(tier), *tier.escalate_to))
    ]
    if limits:
        sentences.append((f"You may be asked to approve up to {exact_dollars(max(limits))}.",))
    if standing.user in configuration.administrators:
        sentences.append(("You are an administrator.",))
    return Section(title="You", sentences=tuple(sentences))


def policy_sections(configuration: Configuration, switch: Switch) -> tuple[Section, ...]:
    """Return the file's rules in a few lines each; it is changed in the file, not here."""
    return (
        Section(title="Spending", sentences=tuple(_spending(configuration, switch))),
        Section(title="Approval", sentences=tuple(_approval(configuration))),
        Section(title="Where", sentences=tuple(_where(configuration))),
        Section(title="Teams", sentences=tuple(_teams(configuration))),
    )


def _spending(configuration: Configuration, switch: Switch) -> Iterable[Sentence]:
    file = (
        "" if switch is configuration.purchasing else f" (the file says {configuration.purchasing})"
    )
    yield (f"Purchasing is {switch}{file}.",)
    ceiling = configuration.daily_ceiling_usd
    yield ("No daily ceiling." if ceiling is None else f"Daily ceiling: {exact_dollars(ceiling)}.",)
    limits = configuration.limits
    yield (
        (
            f"An instant block may start {span(limits.start_drift)} later than approved; a launch"
            f" that finds no capacity is retried for {span(limits.retry_for)}; unclear purchases"
            f" need a person after {span(limits.review_after)}. A quote that nobody goes on with"
            f" expires after {span(limits.lapse_after)}."
        ),
    )
    yield (
        (
            f"Idle is told after {span(limits.idle_after)} below"
            f" {rate_text(limits.idle_below * 100)} % of the machines. What bills by the hour is"
            f" {'ended' if limits.stop_at_end else 'not ended'} at its agreed end."
        ),
    )
    yield (
        "This is the administrator's file; check a change with ",
        Code(text="gpubot config check"),
        ".",
    )


def _approval(configuration: Configuration) -> Iterable[Sentence]:
    rules = configuration.approval
    for tier in rules.tiers:
        yield (f"Up to {exact_dollars(tier.up_to_usd)}: ", *_needs(tier))
    alone = rules.break_glass
    if alone is not None:
        yield (
            f"Alone in an emergency, up to {exact_dollars(alone.up_to_usd)}: ",
            *_people(alone.people),
            ".",
        )
    ahead = rules.extensions_without_asking_usd
    if ahead is not None:
        yield (f"Extensions of one reservation need nobody up to {exact_dollars(ahead)} in all.",)
    for stand_in in rules.delegates:
        yield (
            Mention(id=stand_in.to, ping=False),
            " stands in for ",
            Mention(id=stand_in.of, ping=False),
            ".",
        )


def _needs(tier: Tier) -> Iterable[Phrase]:
    if tier.auto:
        return ("nobody has to agree.",)
    return (
        f"{tier.needed} of ",
        *_people(everyone(tier)),
        f" within {span(tier.expires)}.",
    )


def _where(configuration: Configuration) -> Iterable[Sentence]:
    yield (f"Kinds: {', '.join(kind.replace('_', ' ') for kind in configuration.kinds)}.",)
    for account in configuration.accounts:
        yield (f"Account {account.name}: {', '.join(account.regions)}.",)
    digest = configuration.digest
    yield (f"The digest is posted at {digest.at}, {digest.zone}.",)


def _teams(configuration: Configuration) -> Iterable[Sentence]:
    if not configuration.teams:
        yield ("The file names no team.",)
    for team in configuration.teams:
        limit = team.monthly_budget_usd
        budget = "no monthly limit" if limit is None else f"{exact_dollars(limit)} a month"
        yield (f"{team.name}, {budget}: ", *_people(team.members), ".")


def _people(members: Sequence[str]) -> Iterable[Phrase]:
    for number, who in enumerate(members[:MOST_MEMBERS]):
        if number:
            yield ", "
        yield Mention(id=who, ping=False)
    if len(members) > MOST_MEMBERS:
        yield f" and {len(members) - MOST_MEMBERS} more"


def span(length: timedelta) -> str:
    """Return a length in its largest whole unit: 4 h, 15 min, 2 days."""
    minutes = int(length.total_seconds()) // 60
    days, rest = divmod(length, timedelta(days=1))
    if days and not rest:
        return how_many(days, "day")
    return f"{minutes // 60} h" if minutes % 60 == 0 and minutes else f"{minutes} min"
