"""Whether machines could be launched into what is bought: image, subnet, network interfaces.

EC2 User Guide, "Capacity Blocks": a reservation's platform and zone are final, so that a launch
template for another platform, or a zone without a subnet, makes a paid block useless.
"""

from collections.abc import Iterator
from typing import Any

from bot.aws.calls import read
from bot.aws.clients import Clients
from bot.aws.zones import Zones
from bot.catalog import Catalog
from bot.domain.errors import MarketError
from bot.domain.market import Kind
from bot.domain.records import Leg, LegPurpose

EC2_KINDS = frozenset({Kind.CAPACITY_BLOCK, Kind.ODCR, Kind.ON_DEMAND, Kind.SPOT})


def as_used(leg: Leg, used_in: str | None, zones: Zones) -> Leg:
    """Return the leg as the account that it is launched from sees it: its own zone names.

    What can't be mapped has no zone any more, and so no subnet is missed in it.
    """
    if used_in is None or used_in == leg.account:
        return leg
    bought = zones.known(leg.account, leg.region)
    own = {facts.id: name for name, facts in zones.known(used_in, leg.region).items() if facts.id}

    def there(zone: str | None) -> str | None:
        facts = bought.get(zone or "")
        return own.get(facts.id) if facts is not None and facts.id is not None else None

    parts = tuple(part.model_copy(update={"zone": there(part.zone)}) for part in leg.segments)
    return leg.model_copy(update={"account": used_in, "zone": there(leg.zone), "segments": parts})


def unlaunchable(clients: Clients, leg: Leg, catalog: Catalog) -> Iterator[str]:
    """Yield what would keep machines from being launched into the leg, each with its mend.

    What can't be read is no obstacle by itself: the purchase does not depend on it.
    """
    if leg.kind not in EC2_KINDS or leg.purpose is LegPurpose.EXTENSION:
        return
    try:
        yield from _template(clients, leg, catalog)
        yield from _subnets(clients, leg)
    except MarketError as error:
        if error.why == "refused":
            yield (
                f"The launch template and subnets in {leg.region} can't be read"
                f" ({error.detail.partition(':')[0]}): give the reading role"
                " DescribeLaunchTemplateVersions, DescribeImages and DescribeSubnets."
            )


def _template(clients: Clients, leg: Leg, catalog: Catalog) -> Iterator[str]:
    template = clients.account(leg.account).launch_templates.get(leg.region)
    if template is None:
        return
    client = clients.reading("ec2", leg.account, leg.region)
    try:
        answer = read(
            client,
            "describe_launch_template_versions",
            LaunchTemplateId=template,
            Versions=["$Default"],
        )
    except MarketError as error:
        if "NotFound" not in error.detail and "Malformed" not in error.detail:
            raise
        yield f"The launch template {template} is not in {leg.region}; mend launch_templates."
        return
    versions = answer.get("LaunchTemplateVersions") or [{}]
    data: dict[str, Any] = versions[0].get("LaunchTemplateData") or {}
    yield from _interfaces(template, data, leg, catalog)
    image = data.get("ImageId")
    if image is None or str(image).startswith("resolve:"):
        return
    rows = read(client, "describe_images", ImageIds=[image]).get("Images")
    if rows is None:
        return
    if not rows:
        yield f"The image {image} of {template} is gone; give the launch template another one."
        return
    platform = rows[0].get("PlatformDetails")
    if platform is not None and platform != leg.platform:
        yield (
            f"The image {image} of {template} is for {platform}, but this is bought for"
            f" {leg.platform}, which is final: mend the image or the account's platform."
        )


def _interfaces(template: str, data: dict[str, Any], leg: Leg, catalog: Catalog) -> Iterator[str]:
    """Compare the template's EFA interfaces with what the type has (DescribeInstanceTypes)."""
    asked = sum(
        1
        for interface in data.get("NetworkInterfaces") or ()
        if str(interface.get("InterfaceType", "")).startswith("efa")
    )
    known = catalog.types.get(leg.instance_type)
    most = known.efa_interfaces if known is not None and known.efa else 0
    if known is not None and most is not None and asked > most:
        yield (
            f"{template} has {asked} EFA interfaces, but {leg.instance_type} takes {most}:"
            " mend the launch template."
        )


def _subnets(clients: Clients, leg: Leg) -> Iterator[str]:
    """Look for a subnet in each zone of the leg; the file's own one must be in that very zone."""
    account = clients.account(leg.account)
    zones = {part.zone for part in leg.segments if part.zone} | ({leg.zone} if leg.zone else set())
    client = clients.reading("ec2", leg.account, leg.region)
    for zone in sorted(zones):
        filters = [{"Name": "availability-zone", "Values": [zone]}]
        rows = read(client, "describe_subnets", Filters=filters).get("Subnets")
        if rows is None:
            continue
        named = account.subnets.get(zone)
        if not rows:
            yield (
                f"There is no subnet in {zone} of {leg.account}, so that nothing could be launched"
                " there: make one, and name it under subnets."
            )
        elif named is not None and named not in {row.get("SubnetId") for row in rows}:
            yield f"{named} is not in {zone}: mend subnets in the administrator's file."
