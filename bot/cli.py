"""The command `gpubot`: everything that can be asked without Slack.

With `--json` one JSON object goes to stdout and everything else to stderr. Exit status: 0 ok,
2 refused, 3 asks, 64 wrong use of the command line, 78 wrong settings. Libraries are imported
by the command that needs them: `gpubot parse` loads neither boto3 nor Slack.
"""

from __future__ import annotations

import json
import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click
from typing_extensions import override

from bot.domain.errors import GpuBotError, SettingsError, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.domain.request import Parsed

OK, REFUSED, ASKS, USAGE, SETTINGS, INTERRUPTED = 0, 2, 3, 64, 78, 130
_STATUS = {"ok": OK, "refused": REFUSED, "ask": ASKS}
LOCALES = ("en-US", "en-GB", "pt-BR", "pt-PT", "es-ES", "es-MX", "es-419")


class _InstantType(click.ParamType[datetime]):
    name = "time"

    @override
    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a time; write one like 2027-03-10T15:00:00Z", param, ctx)
        if moment.tzinfo is None:
            self.fail(f"{value!r} has no zone; end it with Z for UTC", param, ctx)
        return moment.astimezone(UTC)


class _PersonType(click.ParamType[str]):
    name = "person"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if re.fullmatch(r"[UW][A-Z0-9]{2,}", str(value)) is None:
            self.fail(f"{value!r} is not a person's Slack id; write one like U0ANA", param, ctx)
        return str(value)


class _ZoneType(click.ParamType[str]):
    name = "zone"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            ZoneInfo(str(value))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            self.fail(f"{value!r} is not a zone; write one like Europe/Berlin", param, ctx)
        return str(value)


_now = click.option("--now", type=_InstantType(), help="the instant to read dates from")
_zone = click.option("--tz", type=_ZoneType(), default="UTC", show_default=True)
_locale = click.option("--locale", default="en-US", show_default=True, type=click.Choice(LOCALES))
_json = click.option("--json", "as_json", is_flag=True, help="print one JSON object")
_config = click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="GPUBOT_CONFIG",
    help="the administrator's file",
)


def _example(line: str) -> str:
    return f"Example: gpubot {line}"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="gpubot", message="%(prog)s %(version)s")
def gpubot() -> None:
    """Get GPU capacity from a sentence: once, at an agreed price."""


@gpubot.command(epilog=_example("parse 'reserve 16xH100 for 2 days from Mar 15 9am' --json"))
@click.argument("text")
@_now
@_zone
@_locale
@_json
@click.pass_context
def parse(
    ctx: click.Context, text: str, now: datetime | None, tz: str, locale: str, *, as_json: bool
) -> None:
    """Say what `/gpu TEXT` means, without doing it."""
    from bot.catalog import packaged
    from bot.language import parse as read

    parsed = read(text, now=now or datetime.now(UTC), zone=tz, locale=locale, catalog=packaged())
    click.echo(parsed.model_dump_json() if as_json else _meaning(parsed))
    ctx.exit(_STATUS[parsed.status])


@gpubot.command(
    short_help="Decide for a request, live or recorded; buy nothing.",
    epilog=_example("plan '2 p5.48xlarge for 3 days' --market market.json"),
)
@click.argument("text")
@click.option("--market", type=click.Path(path_type=Path, dir_okay=False), help="a recorded market")
@click.option(
    "--save-market",
    type=click.Path(path_type=Path, dir_okay=False),
    help="keep the market as a file that --market takes",
)
@_now
@_zone
@_locale
@_config
@_json
@click.pass_context
def plan(ctx: click.Context, /, text: str, *, as_json: bool, **how: Any) -> None:
    """Decide for a reserve request, from the live or a recorded market; buys nothing."""
    from bot.planning import planned

    answer = planned(text, **how)
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
    else:
        from bot.planning import in_words

        click.echo(in_words(answer))
    ctx.exit(_STATUS[answer["status"]])


@gpubot.command(epilog=_example("run"))
def run() -> None:
    """Start the bot (the same as `python -m bot`)."""
    import gc

    gc.disable()  # imports make no garbage; main switches it on once it is ready
    from bot.main import run as start

    start()


@gpubot.command(
    short_help="Start a simulated Slack and AWS with the bot.",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def sandbox(arguments: Sequence[str]) -> None:
    """Start a simulated Slack and AWS with the real bot between them (see --help)."""
    # It takes this process's place: whoever ends the command ends the world, not its parent.
    os.execv(sys.executable, [sys.executable, "-m", "sandbox", *arguments])  # noqa: S606 - no shell


@gpubot.group()
def config() -> None:
    """Look at the administrator's file."""


@config.command(epilog=_example("config check gpubot.yaml"))
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@_json
@click.pass_context
def check(ctx: click.Context, file: Path, *, as_json: bool) -> None:
    """Say what is wrong with FILE, line by line, without starting."""
    from bot.settings import problems_in

    problems = problems_in(file)
    if as_json:
        click.echo(json.dumps({"ok": not problems, "problems": problems}))
    elif problems:
        for problem in problems:
            click.echo(problem, err=True)
    else:
        click.echo(f"{file} is sound.")
    ctx.exit(SETTINGS if problems else OK)


@config.command(epilog=_example("config example > gpubot.yaml"))
def example() -> None:
    """Print a full file to start from."""
    from bot.settings import EXAMPLE

    click.echo(EXAMPLE, nl=False)


@gpubot.group()
def policy() -> None:
    """Ask what the administrator's rules mean."""


@policy.command(
    epilog=_example("policy explain '2 p5.48xlarge for 3 days' --as U0ANA --config gpubot.yaml")
)
@click.argument("text")
@click.option("--market", type=click.Path(path_type=Path, dir_okay=False), help="a recorded market")
@click.option("--as", "user", required=True, type=_PersonType(), help="who would ask, U…")
@_now
@_config
@_json
@click.pass_context
def explain(ctx: click.Context, /, text: str, *, as_json: bool, **who: Any) -> None:
    """Say who would have to approve TEXT if USER asked for it, and why."""
    from bot.planning import explained

    answer = explained(text, **who)
    click.echo(json.dumps(answer) if as_json else "\n".join(answer["sentences"]))
    ctx.exit(_STATUS[answer["status"]])


@gpubot.command(
    short_help="Make a stored decision again, and compare.",
    epilog=_example("replay gpu-42 --config gpubot.yaml"),
)
@click.argument("reservation")
@_config
@_json
def replay(reservation: str, config: Path | None, *, as_json: bool) -> None:
    """Make a stored decision again, and show what today's configuration would change."""
    from bot.desk import replayed

    answer = replayed(reservation, config=config)
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False))
    else:
        click.echo("\n".join(answer["sentences"]))


@gpubot.command(
    short_help="List, verify or settle every intent to spend.",
    epilog=_example("ledger verify --config gpubot.yaml"),
)
@click.argument("action", type=click.Choice(["list", "verify", "settle"]), default="list")
@click.argument("purchase", required=False)
@click.option("--not-bought", is_flag=True, help="declare that AWS never sold PURCHASE")
@click.option("--reason", default="", help="how that is known; it is kept for ever")
@click.option("--as", "by", default="administrator", show_default=True, help="who says so")
@click.option("--offline", is_flag=True, help="verify without asking AWS")
@_config
@_json
@click.pass_context
def ledger(ctx: click.Context, /, action: str, *, as_json: bool, **how: Any) -> None:
    """List every intent to spend, verify the ledger and AWS, or settle what needs a review."""
    if action == "list":
        from bot.desk import ledger_rows

        rows = ledger_rows()
        click.echo(json.dumps({"purchases": rows}) if as_json else _table(rows))
    elif action == "verify":
        _verify(ctx, as_json=as_json, config=None if how["offline"] else how["config"])
    else:
        _settle(how, as_json=as_json)


def _verify(ctx: click.Context, *, as_json: bool, config: Path | None) -> None:
    from bot.desk import ledger_verified

    faults = ledger_verified(config)
    if as_json:
        click.echo(json.dumps({"ok": not faults, "aws": config is not None, "faults": faults}))
    elif faults:
        click.echo("\n".join(faults))
    else:
        asked = "" if config else " AWS was not asked: name the file with --config."
        click.echo(f"The ledger holds.{asked}")
    ctx.exit(REFUSED if faults else OK)


def _settle(how: dict[str, Any], *, as_json: bool) -> None:
    from bot.desk import ledger_settled

    if not how["purchase"] or not how["not_bought"]:
        raise click.UsageError('write: ledger settle PURCHASE --not-bought --reason "…"')
    if how["config"] is None:
        raise click.UsageError("name the administrator's file with --config or GPUBOT_CONFIG")
    done = ledger_settled(how["purchase"], reason=how["reason"], by=how["by"], config=how["config"])
    click.echo(json.dumps({"settled": how["purchase"], "said": done}) if as_json else done)


@gpubot.command(
    short_help="Check settings, database, Slack and AWS.", epilog=_example("doctor --json")
)
@_json
@click.pass_context
def doctor(ctx: click.Context, *, as_json: bool) -> None:
    """Check settings, database, Slack, AWS and the purchase switch; spends nothing."""
    from bot.desk import diagnosed

    findings = diagnosed()
    bad = any(finding["level"] == "fail" for finding in findings)
    if as_json:
        click.echo(json.dumps({"ok": not bad, "findings": findings}))
    else:
        for finding in findings:
            click.echo(f"{finding['level']:4}  {finding['name']}: {finding['detail']}".rstrip(" :"))
            if finding["mend"]:
                click.echo(f"      → {finding['mend']}")
        click.echo("Something needs you." if bad else "All is well.")
    ctx.exit(REFUSED if bad else OK)


def _meaning(parsed: Parsed) -> str:
    if parsed.problem is not None:
        return f"{parsed.problem.message}\nTry: /gpu {parsed.problem.hint}"
    lines = [parsed.echo or ""]
    for question in parsed.questions:
        lines.append(question.question)
        lines += [f"  - {choice.label}" for choice in question.choices]
    return "\n".join(line for line in lines if line)


def _table(rows: Sequence[dict[str, str]]) -> str:
    if not rows:
        return "Nothing was ever meant to be bought, in the database that GPUBOT_DATABASE names."
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]}
    head = "  ".join(name.ljust(width) for name, width in widths.items())
    body = ["  ".join(row[name].ljust(width) for name, width in widths.items()) for row in rows]
    return "\n".join(line.rstrip() for line in [head, *body])


def main() -> None:
    """Run the command and leave with its status; a fault is one line, never a traceback."""
    sys.exit(status_of(sys.argv[1:]))


def status_of(arguments: Sequence[str]) -> int:
    """Return the exit status of one command line; faults are said on stderr."""
    as_json = "--json" in arguments
    try:
        answer = gpubot.main(list(arguments), prog_name="gpubot", standalone_mode=False)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as wrong:
        wrong.show()
        if as_json:
            context = wrong.ctx if isinstance(wrong, click.UsageError) else None
            path = context.command_path if context else "gpubot"
            _told("usage", wrong.format_message(), f"{path} --help")
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except GpuBotError as wrong:
        return _said(wrong, as_json=as_json)
    return answer if isinstance(answer, int) else OK


def _said(wrong: GpuBotError, *, as_json: bool) -> int:
    click.echo(f"gpubot: {wrong}", err=True)
    hint = wrong.hint if isinstance(wrong, UserError) else None
    if hint:
        click.echo(f"Try: {hint}", err=True)
    settings = isinstance(wrong, SettingsError)
    if as_json:
        _told("settings" if settings else "refused", str(wrong), hint or "gpubot doctor")
    return SETTINGS if settings else REFUSED


def _told(code: str, message: str, following: str) -> None:
    """Write a fault as the one object that --json promises."""
    error = {"code": code, "message": message, "next": following}
    click.echo(json.dumps({"error": error}, ensure_ascii=False))


if __name__ == "__main__":
    main()
