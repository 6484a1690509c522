"""What an administrator asks from the command line: ledger, replay, doctor. Spends nothing."""

import os
from pathlib import Path
from typing import Any

from bot.catalog import packaged
from bot.clocks import clock_at
from bot.domain.decision import Decision
from bot.domain.errors import GpuBotError, SettingsError, UserError
from bot.domain.lifecycle import LIVE_PURCHASES, PurchaseState
from bot.domain.records import gpu_id
from bot.domain.rules import Rules
from bot.domain.values import money_text, utc_text
from bot.engine import decide
from bot.policy.configuration import Configuration
from bot.ports import Store, Transaction
from bot.services.closing import Closing
from bot.services.comparing import differences
from bot.services.declaring import Declaring
from bot.services.following import ENDED_WORDS, FAILED_WORDS
from bot.services.pleading import Pleading
from bot.services.telling import Telling
from bot.settings import read_configuration, read_environment
from bot.settings.environment import default_database
from storage import open_store

Finding = dict[str, str]


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

    `result` is ok, note, refused, unknown or wrong.
    """
    try:
        environment = read_environment()
        configuration = read_configuration(environment.gpubot_config)
    except SettingsError as error:
        return [_finding("settings", "wrong", str(error))]
    findings = [_finding("settings", "ok", f"{environment.gpubot_config} is sound")]
    findings += _database()
    from bot.aws import check_identity  # noqa: PLC0415 — boto3 only when it is asked
    from handlers.checking import check_slack  # noqa: PLC0415 — Slack only when it is asked

    findings += check_slack(
        token=environment.slack_bot_token.get_secret_value(), api_url=environment.slack_api_url
    )
    findings += [
        _finding(row.name, row.result, row.detail)
        for row in check_identity(configuration.accounts, clock=clock_at(environment.gpubot_clock))
    ]
    return findings


def _finding(name: str, result: str, detail: str) -> Finding:
    return {"name": name, "result": result, "detail": detail}


def _database() -> list[Finding]:
    try:
        store = opened()
    except SettingsError as error:
        return [_finding("database", "wrong", str(error))]
    try:
        with store.reading() as tx:
            faults = [*tx.audit.verify(), *_unbalanced(tx)]
            switch = tx.facts.get("switch")
    except GpuBotError as error:
        return [_finding("database", "wrong", str(error))]
    finally:
        store.close()
    return [
        _finding("database", "wrong" if faults else "ok", "; ".join(faults) or "the ledger holds"),
        _finding("switch", "ok" if switch in (None, "on") else "note", switch or "as in the file"),
    ]
