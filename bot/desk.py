"""What an administrator asks from the command line: ledger, replay, doctor. Spends nothing."""

import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bot.catalog import packaged
from bot.clocks import clock_at
from bot.domain.decision import Decision
from bot.domain.errors import GpuBotError, SettingsError, UserError
from bot.domain.lifecycle import LIVE_PURCHASES, PurchaseState
from bot.domain.market import Kind
from bot.domain.records import gpu_id
from bot.domain.rules import Rules
from bot.domain.sharing import Way
from bot.domain.values import how_many, money_text, utc_text
from bot.engine import decide
from bot.policy.accounts import elsewhere
from bot.policy.configuration import Configuration
from bot.policy.explaining import place_words
from bot.ports import Clock, Store, Transaction
from bot.services.commitments.closing import Closing
from bot.services.purchases.comparing import differences
from bot.services.purchases.declaring import Declaring
from bot.services.reservations.looking import ENDED_WORDS, FAILED_WORDS
from bot.services.words.pleading import Pleading
from bot.services.words.telling import Telling
from bot.settings import read_configuration, read_environment
from bot.settings.environment import default_database
from storage import open_store

Finding = dict[str, str]

_MEGABYTE = 1_000_000
_LEAST_FREE, _TIGHT = 200 * _MEGABYTE, 1_000 * _MEGABYTE
_LONG_LOG = 64 * _MEGABYTE
"""SQLite folds its log in every 4 MB; a long one means that a reader never lets go."""
_LATE = timedelta(minutes=5)


def opened() -> Store:
    """Open the database that `GPUBOT_DATABASE` names. Raises SettingsError."""
    return open_store(os.environ.get("GPUBOT_DATABASE") or default_database())


def ledger_rows() -> list[dict[str, str]]:
    """Return every intent to spend, newest first, as columns of text."""
    store = opened()
    try:
        with store.reading() as tx:
            return [
                {
                    "purchase": purchase.id,
                    "leg": f"{gpu_id(purchase.reservation_id)}/{purchase.leg.number}",
                    "state": purchase.state.value,
                    "kind": purchase.leg.kind.value,
                    "offering": purchase.offering_ref,
                    "usd": money_text(purchase.fee),
                    "where": f"{purchase.leg.account} {purchase.leg.region}",
                    "intended": utc_text(purchase.intended_at),
                    "settled": utc_text(purchase.settled_at) if purchase.settled_at else "",
                    "outcome": purchase.outcome,
                }
                for purchase in tx.purchases.recent(limit=10_000)
            ]
    finally:
        store.close()


def ledger_verified(config: Path | None = None) -> list[str]:
    """Return what is wrong with the books, as sentences; empty when they hold.

    The audit chain, every live purchase's money, and every confirmed purchase's receipt. With
    the administrator's file also AWS's own books: what vanished, and what this bot did not buy.
    """
    configuration = read_configuration(config) if config else None
    store = opened()
    try:
        with store.reading() as tx:
            faults = [*tx.audit.verify(), *_unbalanced(tx)]
        if configuration is not None:
            faults += _beside_aws(store, configuration)
        return faults
    finally:
        store.close()


def _beside_aws(store: Store, configuration: Configuration) -> list[str]:
    from bot.aws import AwsHoldings, AwsInventory, Clients  # noqa: PLC0415 — boto3 only when asked

    clock = clock_at(os.environ.get("GPUBOT_CLOCK", "system"))
    clients = Clients(configuration.accounts)
    with store.reading() as tx:
        purchases = tx.purchases.recent(limit=100_000)
        numbers = dict.fromkeys(purchase.reservation_id for purchase in purchases)
        kept = [receipt for number in numbers for receipt in tx.receipts.of(number)]
    live = [receipt for receipt in kept if receipt.state not in ENDED_WORDS | FAILED_WORDS]
    seen = AwsHoldings(configuration.accounts, clock=clock, clients=clients).look(live)
    return differences(
        purchases=purchases,
        receipts={receipt.id: receipt for receipt in kept} | dict(seen),
        inventory=AwsInventory(configuration.accounts, clients=clients).read(),
        now=clock.now(),
    )


def ledger_settled(purchase_id: str, *, reason: str, by: str, config: Path) -> str:
    """Declare a purchase that needs review as not bought; return what was done.

    Raises:
        UserError: AWS shows it, its books can't be read, or nothing waits for a review.
    """
    from bot.aws import AwsBuyer  # noqa: PLC0415 — boto3 only when it is asked

    configuration = read_configuration(config)
    clock = clock_at(os.environ.get("GPUBOT_CLOCK", "system"))
    telling = Telling(configuration=configuration)
    store = opened()
    try:
        settled = Declaring(
            store=store,
            clock=clock,
            buyer=AwsBuyer(configuration.accounts, clock=clock),
            telling=telling,
            closing=Closing(telling=telling),
            pleading=Pleading(configuration=configuration),
        ).not_bought(purchase_id, by=by, reason=reason)
    finally:
        store.close()
    return f"{settled.id} is settled as not bought; its {money_text(settled.fee)} USD is free."


def _unbalanced(tx: Transaction) -> list[str]:
    faults = []
    entries = {entry.purchase_key: entry for entry in tx.budget.entries()}
    for purchase in tx.purchases.in_state(LIVE_PURCHASES):
        leg = f"{gpu_id(purchase.reservation_id)}/{purchase.leg.number}"
        receipts = [
            receipt
            for receipt in tx.receipts.of(purchase.reservation_id)
            if receipt.purchase_id == purchase.id
        ]
        if purchase.state is PurchaseState.CONFIRMED and not receipts:
            faults.append(f"{leg}: {purchase.id} is confirmed but has no receipt.")
        failed = receipts and all("failed" in receipt.state for receipt in receipts)
        entry = entries.get(leg)
        if purchase.fee and not failed and (entry is None or entry.state == "freed"):
            faults.append(f"{leg}: {money_text(purchase.fee)} USD may be spent but is not held.")
    return faults


def replayed(reservation: str, *, config: Path | None) -> dict[str, Any]:
    """Make a stored decision again; `same` says whether it gives the same bytes.

    Raises:
        UserError: the id is not one, or nothing was decided for it.
    """
    digits = reservation.lower().removeprefix("#").removeprefix("gpu-")
    if not digits.isdecimal():
        raise UserError(f"{reservation!r} is not a reservation.", hint="gpubot replay gpu-42")
    rules = read_configuration(config).rules if config else None
    store = opened()
    try:
        with store.reading() as tx:
            record = tx.decisions.latest(int(digits))
    finally:
        store.close()
    if record is None:
        raise UserError(f"Nothing was decided for gpu-{digits} in this database.")

    def again(under: Rules) -> Decision:
        return decide(
            record.request,
            record.market,
            under,
            now=record.decided_at,
            zone=record.zone,
            catalog=packaged(),
            requester=record.requester,
            prefers=record.prefers,
        )

    same = again(record.rules).model_dump_json() == record.decision.model_dump_json()
    today = again(rules) if rules is not None else None
    sentences = [
        f"gpu-{digits}, decided {utc_text(record.decided_at)}: "
        + ("made again, it is the same to the byte." if same else "IT DIFFERS when made again."),
    ]
    if today is not None:
        sentences += _differences(record.decision, today)
    return {
        "id": f"gpu-{digits}",
        "same": same,
        "stored": record.decision.model_dump(mode="json"),
        "today": today.model_dump(mode="json") if today else None,
        "sentences": sentences,
    }


def _differences(before: Decision, after: Decision) -> list[str]:
    def named(decision: Decision) -> list[str]:
        return ["+".join(option.refs) for option in decision.options]

    if named(before) == named(after):
        return ["Under today's configuration the same options stand in the same order."]
    return [
        "Under today's configuration the order differs:",
        f"  then:  {', '.join(named(before)) or 'nothing fits'}",
        f"  today: {', '.join(named(after)) or 'nothing fits'}",
    ]


def diagnosed() -> list[Finding]:
    """Check settings, database, switch, Slack and AWS; return findings in that order.

    `result` is ok, note, refused, unknown or wrong; `level` is ok, warn or fail, and `mend` what
    to do about it.
    """
    try:
        environment = read_environment()
        configuration = read_configuration(environment.gpubot_config)
    except SettingsError as error:
        return [_mended(_finding("settings", "wrong", str(error)))]
    clock = clock_at(environment.gpubot_clock)
    findings = [_finding("settings", "ok", f"{environment.gpubot_config} is sound")]
    findings += [*_database(clock), *_disk(environment.gpubot_database)]
    findings += _sharing(configuration)
    from bot.aws import check_identity  # noqa: PLC0415 — boto3 only when it is asked
    from handlers.checking import check_slack  # noqa: PLC0415 — Slack only when it is asked

    channels = configuration.channels
    findings += check_slack(
        token=environment.slack_bot_token.get_secret_value(),
        api_url=environment.slack_api_url,
        channels=(channels.requests, channels.approvals, channels.digest),
    )
    findings += [
        _finding(row.name, row.result, row.detail)
        for row in check_identity(configuration.accounts, clock=clock)
    ]
    return [_mended(finding) for finding in findings]


_LEVELS = {"ok": "ok", "note": "warn"}
"""Of a result; what was refused, is wrong or could not be seen is no good news."""
_MENDS = {
    "settings": "`gpubot config check FILE` names every line; the README lists the variables",
    "database": "`gpubot ledger verify` says more; `/gpu stop` until it holds",
    "backlog": "see that `gpubot run` is running, and look at its log",
    "disk": "free some space, or let GPUBOT_DATABASE name a roomier folder",
    "switch": "an administrator's `/gpu resume` turns buying on",
    "clock": "set the machine's time, by NTP",
    "slack token": "set SLACK_BOT_TOKEN to the Bot User OAuth Token of the installed app",
    "slack scopes": "add what manifest.yml asks for, and reinstall the app",
    "slack channel": "write `/invite @gpubot` in that channel, or correct `channels` in the file",
    "sharing": "name the account under `shares_with` and both accounts' `organization`",
    "GPU count": "update gpubot: its catalog is older than what AWS says",
}
_AWS_MEND = "give the role what docs/iam lists, and switch the Region on for the account"


def _mended(finding: Finding) -> Finding:
    """Return the finding with its level and, unless all is well, what to do."""
    level = _LEVELS.get(finding["result"], "fail")
    known = (mend for name, mend in _MENDS.items() if finding["name"].startswith(name))
    return {**finding, "level": level, "mend": "" if level == "ok" else next(known, _AWS_MEND)}


def _finding(name: str, result: str, detail: str) -> Finding:
    return {"name": name, "result": result, "detail": detail}


def _sharing(configuration: Configuration) -> list[Finding]:
    """Return for each team with an account whether it can use what the others buy, by the file."""
    found = []
    for team in configuration.teams:
        for account in configuration.accounts:
            passage = elsewhere(
                Kind.CAPACITY_BLOCK,
                ultraserver=False,
                buyer=account.name,
                team=team.name,
                configuration=configuration,
            )
            if passage is not None:
                ready = passage.way is Way.SHARED
                name = f"sharing {account.name} with {team.name}"
                said = " ".join(place_words(passage))
                found.append(_finding(name, "ok" if ready else "note", said))
    return found


def _disk(url: str) -> list[Finding]:
    """Return whether the database's folder takes more, and how much of it is not folded in."""
    path = Path(url.removeprefix("sqlite:///"))
    if not path.parent.is_dir() or "://" in str(path):
        return []
    free = shutil.disk_usage(path.parent).free
    log = path.with_name(f"{path.name}-wal")
    unfolded = log.stat().st_size if log.exists() else 0
    said = f"{free // _MEGABYTE:,} MB free, write-ahead log {unfolded // _MEGABYTE:,} MB"
    if not all(os.access(place, os.W_OK) for place in (path, path.parent)):
        return [_finding("disk", "wrong", f"{path} can't be written; {said}")]
    if free < _LEAST_FREE:
        return [_finding("disk", "wrong", said)]
    tight = free < _TIGHT or unfolded > _LONG_LOG
    return [_finding("disk", "note" if tight else "ok", said)]


def _backlog(tx: Transaction, now: datetime) -> Finding:
    """Return what is taken on and not finished, and how late the oldest of it is."""
    counts = (tx.inbox.waiting(), tx.outbox.waiting(now=now), tx.dues.waiting(now=now))
    said = "{} to read, {} to say, {} due".format(*counts)
    times = [at for at in (tx.dues.next_at(), tx.outbox.next_at()) if at is not None]
    late = now - min(times, default=now)
    if late > _LATE:
        minutes = how_many(late // timedelta(minutes=1), "minute")
        return _finding("backlog", "note", f"{said}; the oldest is {minutes} late")
    return _finding("backlog", "ok", said)


def _database(clock: Clock) -> list[Finding]:
    try:
        store = opened()
    except SettingsError as error:
        return [_finding("database", "wrong", str(error))]
    try:
        with store.reading() as tx:
            faults = [*tx.audit.verify(), *_unbalanced(tx)]
            switch = tx.facts.get("switch")
            backlog = _backlog(tx, clock.now())
    except GpuBotError as error:
        return [_finding("database", "wrong", str(error))]
    finally:
        store.close()
    return [
        _finding("database", "wrong" if faults else "ok", "; ".join(faults) or "the ledger holds"),
        backlog,
        _finding("switch", "ok" if switch in (None, "on") else "note", switch or "as in the file"),
    ]
