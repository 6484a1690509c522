"""Shares a capacity reservation with another account of the organization, by AWS RAM.

A share is looked up by its name and our purchase tag before one is made, and made with a token
that its name decides, so that repeating it makes no second one. Operations: botocore ram
2018-01-04; who may share what: EC2 User Guide, "Share Capacity Blocks" (April 2026). Accounts
name zones differently, so a zone's id is read here and its name there.
"""

import hashlib
from collections.abc import Iterator
from typing import Any, Final

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from bot.aws import wire
from bot.aws.calls import pages, read, spend, understood
from bot.aws.clients import Clients
from bot.aws.errors import THROTTLES
from bot.aws.removals import remove
from bot.aws.tags import OWNER, PURCHASE, RESERVATION, TEAM
from bot.domain.errors import MarketError, RefusedError
from bot.domain.records import gpu_id
from bot.domain.sharing import Share, ShareOrder

_ALIVE: Final = frozenset({"ACTIVE", "PENDING"})
_STANDS: Final = frozenset({"ASSOCIATED"})
_COMING: Final = _STANDS | {"ASSOCIATING"}
_FOLLOWING: Final = "nextToken"


class _Row(wire.Row):
    """A row of RAM, which begins its members' names in lower case."""

    model_config = ConfigDict(alias_generator=to_camel)


class _Share(_Row):
    """`resourceShares[]`."""

    resource_share_arn: str | None = None
    status: str | None = None


class _Shares(_Row):
    """Answer of GetResourceShares."""

    resource_shares: tuple[_Share, ...] = ()


class _Made(_Row):
    """Answer of CreateResourceShare."""

    resource_share: _Share = _Share()


class _Part(_Row):
    """`resourceShareAssociations[]`."""

    associated_entity: str | None = None
    status: str | None = None
    status_message: str | None = None


class _Parts(_Row):
    """Answer of GetResourceShareAssociations."""

    resource_share_associations: tuple[_Part, ...] = ()


def share_token(order: ShareOrder) -> str:
    """Return the client token: the same for the same share, at most 64 characters."""
    return f"gpubot-{hashlib.sha256(order.name.encode()).hexdigest()[:48]}"


def shares_tagged(clients: Clients, account: str, region: str, purchase_id: str) -> Iterator[str]:
    """Yield the shares of an account that carry our purchase's tag. Raises MarketError."""
    filters = [{"tagKey": PURCHASE, "tagValues": [purchase_id]}]
    yield from _found(clients, account, region, tagFilters=filters)


def _found(clients: Clients, account: str, region: str, **asked: Any) -> Iterator[str]:
    client = clients.reading("ram", account, region)
    for page in pages(
        client, "get_resource_shares", following=_FOLLOWING, resourceOwner="SELF", **asked
    ):
        for row in understood(_Shares, page).resource_shares:
            if row.resource_share_arn and row.status in _ALIVE:
                yield row.resource_share_arn


class AwsSharer:
    """See bot.ports.Sharer."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def share(self, order: ShareOrder) -> Share:
        """See bot.ports.Sharer."""
        held = self._held(order)
        arn = _arn(order, held.owner_id or self._clients.account(order.account).account_id)
        consumer = self._clients.account(order.consumer).account_id
        name = self._find(order)
        if name is None:
            name = self._make(order, arn, consumer)
        parts = [("resourceArns", "RESOURCE", arn), ("principals", "PRINCIPAL", consumer)]
        missing = {
            member: [entity]
            for member, kind, entity in parts
            if self._status(order, name, kind, entity) not in _COMING
        }
        if missing:
            self._spend(order, "associate_resource_share", resourceShareArn=name, **missing)
        stands = all(
            self._status(order, name, kind, entity) in _STANDS for _, kind, entity in parts
        )
        return Share(
            id=name,
            stands=stands,
            zone_id=held.availability_zone_id,
            zone=self._zone_there(order) if stands else None,
        )

    def unshare(self, order: ShareOrder) -> None:
        """See bot.ports.Sharer."""
        name = self._find(order)
        if name is not None:
            remove(
                self._clients,
                "ram",
                order.account,
                order.region,
                "delete_resource_share",
                resourceShareArn=name,
            )

    # --- the reservation -------------------------------------------------------------------------

    def _held(self, order: ShareOrder) -> wire.Reservation:
        """Return the reservation as its owner sees it. Raises MarketError."""
        row = self._reservation(order, order.account)
        if row is None:
            raise MarketError("unknown", f"{order.capacity_id} is not in the books")
        return row

    def _zone_there(self, order: ShareOrder) -> str | None:
        """Return the zone's name in the consumer's account; None while it is not seen there."""
        try:
            row = self._reservation(order, order.consumer)
        except MarketError:
            return None  # it stands by RAM's own word; the name is a help, not a condition
        return row.availability_zone if row is not None else None

    def _reservation(self, order: ShareOrder, account: str) -> wire.Reservation | None:
        client = self._clients.reading("ec2", account, order.region)
        answer = read(
            client, "describe_capacity_reservations", CapacityReservationIds=[order.capacity_id]
        )
        rows = understood(wire.Reservations, answer).capacity_reservations
        return next((row for row in rows if row.capacity_reservation_id == order.capacity_id), None)

    # --- the share -------------------------------------------------------------------------------

    def _find(self, order: ShareOrder) -> str | None:
        filters = [{"tagKey": PURCHASE, "tagValues": [order.purchase_id]}]
        found = _found(
            self._clients, order.account, order.region, name=order.name, tagFilters=filters
        )
        return next(found, None)

    def _make(self, order: ShareOrder, arn: str, consumer: str) -> str:
        tags = {
            PURCHASE: order.purchase_id,
            RESERVATION: gpu_id(order.reservation_id),
            OWNER: order.owner,
            TEAM: order.team or "",
        }
        answer = self._spend(
            order,
            "create_resource_share",
            name=order.name,
            resourceArns=[arn],
            principals=[consumer],
            allowExternalPrincipals=False,
            tags=[{"key": key, "value": value} for key, value in tags.items() if value],
            clientToken=share_token(order),
        )
        name = understood(_Made, answer).resource_share.resource_share_arn
        if name is None:
            raise MarketError("unknown", "the answer names no share")
        return name

    def _status(self, order: ShareOrder, name: str, kind: str, entity: str) -> str | None:
        """Return how a part stands; None when it is none.

        Raises RefusedError where AWS says that associating it failed, MarketError.
        """
        client = self._clients.reading("ram", order.account, order.region)
        for page in pages(
            client,
            "get_resource_share_associations",
            following=_FOLLOWING,
            associationType=kind,
            resourceShareArns=[name],
        ):
            for row in understood(_Parts, page).resource_share_associations:
                if row.associated_entity == entity and row.status == "FAILED":
                    raise RefusedError("AssociationFailed", row.status_message or "")
                if row.associated_entity == entity and row.status in _COMING:
                    return row.status
        return None

    def _spend(self, order: ShareOrder, operation: str, **parameters: Any) -> Any:
        """Send it once, by the role that bought; a throttle is no refusal."""
        client = self._clients.spending("ram", order.account, order.region)
        try:
            return spend(client, operation, after_doubt=False, **parameters)
        except RefusedError as refused:
            if refused.code in THROTTLES:
                raise MarketError("throttled", refused.code) from refused
            raise


def _arn(order: ShareOrder, owner_id: str) -> str:
    prefixes = {"cn": "aws-cn", "us-gov": "aws-us-gov"}
    partition = next(
        (name for start, name in prefixes.items() if order.region.startswith(f"{start}-")), "aws"
    )
    return f"arn:{partition}:ec2:{order.region}:{owner_id}:capacity-reservation/{order.capacity_id}"
