"""AWS RAM: capacity reservations shared with other accounts of one organization.

Rules: EC2 User Guide, "Share Capacity Blocks" and "Shared Capacity Reservations" (April 2026);
operations: botocore ram 2018-01-04. The text of the refusal outside an organization is as
people have reported it (terraform-provider-aws issues 7769 and 12169).
"""

import json
import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from sandbox.aws.errors import AwsError
from sandbox.aws.paging import page
from sandbox.aws.records import Reservation, Settled, Share, Sharing
from sandbox.aws.world import Call, World

RESERVATION_ARN = re.compile(r"arn:aws:ec2:([a-z0-9-]+):(\d{12}):capacity-reservation/(cr-\w+)")
ACCOUNT = re.compile(r"\d{12}")
MOST_SHARED = 20
"""How many rows one page of a listing holds unless asked."""

OUTSIDE = (
    "The resource you are attempting to share can only be shared within your AWS Organization. "
    "This error may also occur if you have not enabled sharing with your AWS organization, or "
    "that onboarding process is still in progress."
)


def create_share(world: World, call: Call) -> dict[str, Any]:
    """CreateResourceShare; idempotent by `clientToken`.

    Raises:
        AwsError: a parameter is not valid, or AWS does not let it be shared.
    """
    params, place = call.params, world.place(call.account, call.region)
    token = params.get("clientToken")
    request = json.dumps(params, sort_keys=True)
    key = (call.operation, str(token))
    if token and key in place.tokens:
        settled = place.tokens[key]
        if settled.request != request:
            raise AwsError(
                "IdempotentParameterMismatchException",
                "The client token was used with other parameters.",
            )
        return settled.answer
    if not params.get("name"):
        raise AwsError("InvalidParameterException", "A resource share needs a name.")
    external = params.get("allowExternalPrincipals", True)
    resources = _checked_resources(world, call, params.get("resourceArns") or [])
    principals = _checked_principals(world, call, params.get("principals") or [])
    now = world.now()
    share = Share(
        arn=f"arn:aws:ram:{call.region}:{call.account}:resource-share/{world.new_id('rs')[3:]}",
        name=params["name"],
        account=call.account,
        region=call.region,
        external=external,
        created=now,
        changed=now,
        tags={tag["key"]: tag.get("value", "") for tag in params.get("tags") or []},
    )
    place.shares[share.arn] = share
    _associate(world, share, "RESOURCE", resources)
    _associate(world, share, "PRINCIPAL", principals)
    answer = {"resourceShare": _describe(share)}
    if token:
        answer["clientToken"] = token
        place.tokens[key] = Settled(request=request, answer=answer)
    return answer


def associate_share(world: World, call: Call) -> dict[str, Any]:
    """AssociateResourceShare: more resources or principals in a share; repeating is harmless."""
    share = _own(world, call)
    resources = _checked_resources(world, call, call.params.get("resourceArns") or [])
    principals = _checked_principals(world, call, call.params.get("principals") or [])
    _associate(world, share, "RESOURCE", resources)
    _associate(world, share, "PRINCIPAL", principals)
    named = {*resources, *principals}
    return {"resourceShareAssociations": _rows(share, lambda one: one.entity in named)}


def disassociate_share(world: World, call: Call) -> dict[str, Any]:
    """DisassociateResourceShare; what runs in it runs on (EC2 User Guide, "Unshare")."""
    share = _own(world, call)
    named = {*(call.params.get("resourceArns") or ()), *(call.params.get("principals") or ())}
    for one in share.parts:
        if one.entity in named:
            one.status = "DISASSOCIATED"
            one.changed = world.now()
    return {"resourceShareAssociations": _rows(share, lambda one: one.entity in named)}


def delete_share(world: World, call: Call) -> dict[str, Any]:
    """DeleteResourceShare: everything in it is unshared; it is listed as deleted for a while."""
    share = _own(world, call)
    share.status, share.changed = "DELETED", world.now()
    for one in share.parts:
        one.status, one.changed = "DISASSOCIATED", world.now()
    return {"returnValue": True}


def get_shares(world: World, call: Call) -> dict[str, Any]:
    """GetResourceShares: one's own, or those of other accounts that one is part of."""
    params = call.params
    if params.get("resourceOwner") == "SELF":
        known = list(world.place(call.account, call.region).shares.values())
    else:
        known = [
            share
            for place in world.region_places(call.region)
            for share in place.shares.values()
            if share.account != call.account and share.holds("PRINCIPAL", call.account)
        ]
    wanted = params.get("resourceShareArns")
    filters = {one["tagKey"]: one.get("tagValues") for one in params.get("tagFilters") or ()}
    rows = [
        _describe(share)
        for share in known
        if params.get("name") in {None, share.name}
        and params.get("resourceShareStatus") in {None, share.status}
        and (not wanted or share.arn in wanted)
        and all(
            key in share.tags and (not values or share.tags[key] in values)
            for key, values in filters.items()
        )
    ]
    return _paged("resourceShares", rows, params)


def get_associations(world: World, call: Call) -> dict[str, Any]:
    """GetResourceShareAssociations of one's own shares: the resources, or the principals."""
    params = call.params
    if params.get("associationType") not in {"RESOURCE", "PRINCIPAL"}:
        raise AwsError("InvalidParameterException", "The association type is not valid.")
    wanted = params.get("resourceShareArns")
    rows = [
        row
        for share in world.place(call.account, call.region).shares.values()
        if not wanted or share.arn in wanted
        for row in _rows(
            share,
            lambda one: (
                one.kind == params["associationType"]
                and params.get("resourceArn") in {None, one.entity}
                and params.get("principal") in {None, one.entity}
                and params.get("associationStatus") in {None, one.status}
            ),
        )
    ]
    return _paged("resourceShareAssociations", rows, params)


# --- what may be shared -------------------------------------------------------------------------


def _checked_resources(world: World, call: Call, arns: Iterable[str]) -> list[str]:
    """The ARNs, if each is a reservation that may be shared.

    Raises:
        AwsError: one is no capacity reservation of the caller, or may not be shared.
    """
    checked = []
    for arn in arns:
        match = RESERVATION_ARN.fullmatch(arn)
        if match is None:
            raise AwsError("MalformedArnException", f"The resource ARN {arn} is not valid.")
        region, account, name = match.groups()
        found = world.place(account, region).reservations.get(name)
        if found is None or account != call.account or region != call.region:
            raise AwsError("UnknownResourceException", f"The resource {arn} could not be found.")
        _check_shareable(world, call, found)
        checked.append(arn)
    return checked


def _check_shareable(world: World, call: Call, reservation: Reservation) -> None:
    if reservation.ultraserver_type is not None:
        raise AwsError(
            "InvalidParameterException",
            "Capacity Blocks of UltraServers can't be shared with other accounts.",
        )
    if call.account in world.supply.new_accounts:
        raise AwsError(
            "OperationNotPermittedException",
            "New AWS accounts and accounts with a limited billing history can't share "
            "Capacity Reservations.",
        )
    if reservation.state not in {"scheduled", "active"}:
        raise AwsError(
            "InvalidParameterException",
            f"{reservation.id} is {reservation.state}; only a scheduled or active one is shared.",
        )


def _checked_principals(world: World, call: Call, principals: Iterable[str]) -> list[str]:
    """The account ids, if each is in the caller's organization and sharing is enabled there.

    Raises:
        AwsError: one is not.
    """
    outside = set(world.supply.accounts_outside_organization)
    checked = []
    for principal in principals:
        if ACCOUNT.fullmatch(principal) is None:
            raise AwsError(
                "InvalidParameterException",
                f"Principal ID {principal} is malformed. Verify the ID and try again.",
            )
        together = not outside & {principal, call.account}
        if not (world.supply.organization_sharing and together):
            raise AwsError("OperationNotPermittedException", OUTSIDE)
        checked.append(principal)
    return checked


# --- books --------------------------------------------------------------------------------------


def _own(world: World, call: Call) -> Share:
    arn = call.params.get("resourceShareArn", "")
    share = world.place(call.account, call.region).shares.get(arn)
    if share is None or share.status == "DELETED":
        raise AwsError("UnknownResourceException", f"The resource share {arn} could not be found.")
    return share


def _associate(world: World, share: Share, kind: str, entities: Iterable[str]) -> None:
    now = world.now()
    for entity in entities:
        if share.holds(kind, entity, waiting=True):
            continue
        part = Sharing(kind=kind, entity=entity, status="ASSOCIATING", created=now, changed=now)
        share.parts.append(part)
        world.at(now + timedelta(seconds=world.supply.sharing_seconds), _stand(part))


def _stand(part: Sharing) -> Callable[[datetime], None]:
    def stand(moment: datetime) -> None:
        if part.status == "ASSOCIATING":
            part.status, part.changed = "ASSOCIATED", moment

    return stand


def _describe(share: Share) -> dict[str, Any]:
    return {
        "resourceShareArn": share.arn,
        "name": share.name,
        "owningAccountId": share.account,
        "allowExternalPrincipals": share.external,
        "status": share.status,
        "tags": [{"key": key, "value": value} for key, value in share.tags.items()],
        "creationTime": share.created,
        "lastUpdatedTime": share.changed,
        "featureSet": "STANDARD",
    }


def _rows(share: Share, wanted: Callable[[Sharing], bool]) -> list[dict[str, Any]]:
    return [
        {
            "resourceShareArn": share.arn,
            "resourceShareName": share.name,
            "associatedEntity": one.entity,
            "associationType": one.kind,
            "status": one.status,
            "creationTime": one.created,
            "lastUpdatedTime": one.changed,
            "external": False,
        }
        for one in share.parts
        if wanted(one)
    ]


def _paged(name: str, rows: list[dict[str, Any]], params: dict[str, Any]) -> dict[str, Any]:
    asked = {
        "MaxResults": params.get("maxResults") or MOST_SHARED,
        "NextToken": params.get("nextToken"),
    }
    found, token = page(rows, {key: value for key, value in asked.items() if value})
    return {name: found, "nextToken": token} if token else {name: found}
