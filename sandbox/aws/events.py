"""Events that a script orders: a payment fails, a machine breaks, a price moves."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from sandbox.aws import bus
from sandbox.aws.ec2.blocks import fail_payment
from sandbox.aws.ec2.instances import end_instance
from sandbox.aws.ec2.reservations import machines_in
from sandbox.aws.metrics import publish
from sandbox.aws.records import (
    BlockOffer,
    Extension,
    ExtensionOffer,
    Instance,
    Outage,
    Plan,
    PlanExtension,
    PlanExtensionOffer,
    PlanOffer,
    Reservation,
)
from sandbox.aws.sagemaker.plans import fail_plan
from sandbox.aws.world import World

Offer = BlockOffer | ExtensionOffer | PlanOffer | PlanExtensionOffer
SPOT_NOTICE = timedelta(minutes=2)

KEYS = {
    "payment-failed": {"reservation"},
    "node-failed": {"reservation"},
    "price": {"offering", "usd_per_instance_hour"},
    "sold-out": {"offering"},
    "spot-interruption": {"instance"},
    "spot-rebalance": {"instance"},
    "gpu-utilisation": {"reservation", "instance", "percent"},
}


def happen(world: World, event: dict[str, Any]) -> None:
    """Lets an event happen now, as `POST /control/aws/event` orders it.

    Raises:
        ValueError: the event is not understood, or what it names is not there.
    """
    name = check_event(event)
    handlers: dict[str, Callable[[World, dict[str, Any]], None]] = {
        "payment-failed": _payment_failed,
        "node-failed": _node_failed,
        "price": _price,
        "sold-out": _sold_out,
        "spot-interruption": _spot_interruption,
        "spot-rebalance": _spot_rebalance,
        "gpu-utilisation": _gpu_utilisation,
    }
    with world.lock:
        world.settle()
        handlers[name](world, event)


def check_event(event: dict[str, Any]) -> str:
    """Returns the event's name, if its keys are those of such an event.

    Raises:
        ValueError: the event is not understood.
    """
    name = event.get("event")
    if not isinstance(name, str) or name not in KEYS:
        raise ValueError(f"There is no event {name!r}; there are {', '.join(sorted(KEYS))}.")
    unknown = sorted(set(event) - KEYS[name] - {"event"})
    if unknown:
        raise ValueError(f"The event {name!r} has no {unknown[0]!r}.")
    nested = [key for key, value in event.items() if isinstance(value, bool | list | dict)]
    if nested:
        raise ValueError(f"{nested[0]!r} is a name or a number, not {event[nested[0]]!r}.")
    return name


@dataclass(frozen=True, slots=True)
class _Pending:
    """A payment that is still open: under which names it can be meant, and how it fails."""

    names: set[str]
    bought: Any
    fail: Callable[[], None]


def _pending(world: World) -> list[_Pending]:
    found = []
    for place in world.places.values():
        for block in place.blocks.values():
            parts = [place.reservations[one] for one in block.reservation_ids]
            if any(one.state == "payment-pending" for one in parts):
                names = {block.id, *block.reservation_ids, str(parts[0].offering_id)}
                found.append(_Pending(names, block.created, _failing_block(parts)))
        for extension in place.extensions:
            if extension.status == "payment-pending":
                names = {extension.offer.id, extension.offer.reservation_id}
                found.append(_Pending(names, extension.bought, _failing_extension(extension)))
        for plan in place.plans.values():
            if plan.status == "Pending":
                names = {plan.name, plan.arn, plan.offer.id}
                found.append(_Pending(names, plan.created, _failing_plan(plan)))
            for longer in plan.extensions:
                if longer.payment == "Pending":
                    names = {plan.name, plan.arn, longer.offer.id}
                    found.append(_Pending(names, longer.bought, _failing_plan_extension(longer)))
    return found


def _failing_block(parts: list[Reservation]) -> Callable[[], None]:
    return lambda: fail_payment(parts)


def _failing_plan(plan: Plan) -> Callable[[], None]:
    return lambda: fail_plan(plan)


def _failing_extension(extension: Extension) -> Callable[[], None]:
    def fail() -> None:
        extension.status = "payment-failed"

    return fail


def _failing_plan_extension(extension: PlanExtension) -> Callable[[], None]:
    def fail() -> None:
        extension.status = extension.payment = "Failed"

    return fail


def _payment_failed(world: World, event: dict[str, Any]) -> None:
    """Fails the named open payment; unnamed: the newest open one, else that of the next sale."""
    pending = _pending(world)
    wanted = event.get("reservation")
    if wanted is None:
        if pending:
            max(pending, key=lambda one: one.bought).fail()
        else:
            world.failing_payments += 1
        return
    for one in pending:
        if wanted in one.names:
            one.fail()
            return
    raise ValueError(f"No payment of {wanted!r} is open.")


def _node_failed(world: World, event: dict[str, Any]) -> None:
    """Breaks the oldest machine in a reservation, or an empty slot of it for a while."""
    wanted = event.get("reservation")
    for place in world.places.values():
        for reservation in place.reservations.values():
            if wanted not in {reservation.id, reservation.block_id}:
                continue
            if reservation.state != "active":
                raise ValueError(
                    f"{wanted!r} is {reservation.state}; only an active one can break."
                )
            for machine in machines_in(world, reservation):
                if machine.state == "running" and not machine.impaired:
                    machine.impaired = True
                    return
            until = world.now() + timedelta(seconds=world.supply.cleanup_seconds)
            reservation.outages.append(Outage(count=1, instance_id=None, until=until))
            world.mark(until)
            return
    raise ValueError(f"There is no reservation {wanted!r}.")


def _find_offer(world: World, event: dict[str, Any]) -> Offer:
    wanted = event.get("offering")
    for place in world.places.values():
        books: tuple[dict[str, Any], ...] = (
            place.offers,
            place.extension_offers,
            place.plan_offers,
            place.plan_extension_offers,
        )
        for book in books:
            if wanted in book:
                offer: Offer = book[wanted]
                return offer
    raise ValueError(f"Nobody has been shown an offering {wanted!r}.")


def _price(world: World, event: dict[str, Any]) -> None:
    """Moves an offering's rate by an amount: `"+1.50"`, `"-2"` or a number."""
    text = event.get("usd_per_instance_hour")
    try:
        change = Decimal(str(text))
    except InvalidOperation as error:
        raise ValueError("'usd_per_instance_hour' is a change such as '+1.50' or '-2'.") from error
    if not change.is_finite():
        raise ValueError("'usd_per_instance_hour' is a change such as '+1.50' or '-2'.")
    offer = _find_offer(world, event)
    rates = [one.rate for one in offer.segments] if isinstance(offer, BlockOffer) else [offer.rate]
    if min(rates) + offer.rate_change + change <= 0:
        raise ValueError(f"A change of {text} would leave no price.")
    offer.rate_change += change


def _sold_out(world: World, event: dict[str, Any]) -> None:
    _find_offer(world, event).sold = True


def _spot_interruption(world: World, event: dict[str, Any]) -> None:
    """Ends a spot machine after its two minutes of notice: the named one, else the oldest."""
    machine = _spot_machine(world, event)
    machine.noticed = True
    bus.warn_of_interruption(world, machine)
    world.at(
        world.now() + SPOT_NOTICE,
        lambda moment: end_instance(world, machine, moment, "Server.SpotInstanceTermination"),
    )


def _spot_rebalance(world: World, event: dict[str, Any]) -> None:
    """Says that a spot machine is at risk, by an event alone: the named one, else the oldest."""
    bus.recommend_rebalance(world, _spot_machine(world, event))


def _spot_machine(world: World, event: dict[str, Any]) -> Instance:
    wanted = event.get("instance")
    machines = [
        machine
        for place in world.places.values()
        for machine in place.instances.values()
        if machine.market == "spot"
        and machine.state in {"pending", "running"}
        and wanted in {None, machine.id}
    ]
    if not machines:
        raise ValueError("No such spot machine is running.")
    return min(machines, key=lambda one: one.launched)


def _gpu_utilisation(world: World, event: dict[str, Any]) -> None:
    """Has agents report this from now on: on one machine, or on all in a reservation or launch.

    Without a percent they report nothing any more, as where no agent runs.
    """
    names = {event.get("reservation"), event.get("instance")} - {None}
    machines = [
        machine
        for place in world.places.values()
        for machine in place.instances.values()
        if names & {machine.id, machine.reservation_id, machine.launch_id} and machine.occupies
    ]
    if not machines:
        raise ValueError("No such machine is there; name a 'reservation' or an 'instance'.")
    percent = None if event.get("percent") is None else _percent(event["percent"])
    for machine in machines:
        publish(world, machine, percent)


def _percent(given: Any) -> Decimal:
    try:
        percent = Decimal(str(given))
    except InvalidOperation:
        percent = Decimal("NaN")
    if not percent.is_finite() or not 0 <= percent <= 100:
        raise ValueError("'percent' is a number from 0 to 100, or left out.")
    return percent
