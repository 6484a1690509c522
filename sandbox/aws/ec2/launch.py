"""What a launch asks for, once templates, images and subnets are looked up in moto's books."""

from dataclasses import dataclass
from typing import Any

from moto.core.exceptions import ServiceException
from moto.ec2.models import ec2_backends

from sandbox.aws.errors import AwsError
from sandbox.aws.furnishing import furnish
from sandbox.aws.world import Call, World
from sandbox.aws.zones import Zone, zone_named, zones_of


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of one type; no zone means any."""

    instance_type: str
    image_id: str
    windows: bool
    zone: Zone | None
    subnet_id: str | None
    market: str
    max_price: str | None
    reservation_id: str | None
    open_to_reservations: bool
    placement_group: str | None


def with_template(
    call: Call, params: dict[str, Any], template: dict[str, Any] | None
) -> dict[str, Any]:
    """The launch parameters on top of those of the launch template.

    Raises:
        AwsError: the template or its version does not exist.
    """
    if not template:
        return params
    furnish(call.account, call.region)
    backend = ec2_backends[call.account][call.region]
    try:
        if template.get("LaunchTemplateId"):
            found = backend.get_launch_template(template["LaunchTemplateId"])
        else:
            found = backend.get_launch_template_by_name(template["LaunchTemplateName"])
        wanted = str(template.get("Version") or "$Default")
        number = {"$Latest": found.latest_version_number, "$Default": found.default_version_number}
        version = found.get_version(int(number.get(wanted, wanted)))
    except (ServiceException, IndexError, ValueError, KeyError) as error:
        raise AwsError(
            "InvalidLaunchTemplateId.NotFound", "The specified launch template does not exist."
        ) from error
    return {**version.data, **params}


def read_launch(world: World, call: Call, params: dict[str, Any]) -> Launch:
    """The launch that these parameters describe.

    Raises:
        AwsError: a parameter is missing, unknown, or does not go with another.
    """
    instance_type, image_id = params.get("InstanceType"), params.get("ImageId")
    if not instance_type or not image_id:
        raise AwsError("MissingParameter", "The request must contain ImageId and InstanceType.")
    if instance_type not in world.catalog.kinds:
        raise AwsError(
            "InvalidParameterValue", f"Invalid value '{instance_type}' for InstanceType."
        )
    placement = params.get("Placement") or {}
    subnet_id = params.get("SubnetId") or _subnet_of_interface(params)
    zone_name = _zone_of_subnet(call, subnet_id) if subnet_id else placement.get("AvailabilityZone")
    zone = zone_named(call.region, zone_name, world.supply.opted_in_zones) if zone_name else None
    if zone_name and zone is None:
        raise AwsError("InvalidParameterValue", f"Invalid availability zone: [{zone_name}]")
    options = params.get("InstanceMarketOptions") or {}
    specification = params.get("CapacityReservationSpecification") or {}
    target = specification.get("CapacityReservationTarget") or {}
    return Launch(
        instance_type=instance_type,
        image_id=image_id,
        windows=_is_windows(call, image_id),
        zone=zone,
        subnet_id=subnet_id,
        market=options.get("MarketType", "on-demand"),
        max_price=(options.get("SpotOptions") or {}).get("MaxPrice"),
        reservation_id=target.get("CapacityReservationId"),
        open_to_reservations=specification.get("CapacityReservationPreference", "open") == "open",
        placement_group=placement.get("GroupName") or placement.get("GroupId"),
    )


def own_zones(world: World, call: Call, launch: Launch) -> list[Zone]:
    """The zones in which a launch may be tried."""
    if launch.zone is not None:
        return [launch.zone]
    return [zone for zone in zones_of(call.region, world.supply.opted_in_zones) if zone.opted_in]


def _subnet_of_interface(params: dict[str, Any]) -> str | None:
    interfaces = params.get("NetworkInterfaces") or []
    return next((one["SubnetId"] for one in interfaces if one.get("SubnetId")), None)


def _zone_of_subnet(call: Call, subnet_id: str) -> str:
    try:
        subnet = ec2_backends[call.account][call.region].get_subnet(subnet_id)
    except ServiceException as error:
        raise AwsError(
            "InvalidSubnetID.NotFound", f"The subnet ID '{subnet_id}' does not exist"
        ) from error
    name: str = subnet.availability_zone
    return name


def _is_windows(call: Call, image_id: str) -> bool:
    try:
        images = ec2_backends[call.account][call.region].describe_images(ami_ids=[image_id])
    except ServiceException as error:
        raise AwsError(
            "InvalidAMIID.NotFound", f"The image id '[{image_id}]' does not exist"
        ) from error
    return any(str(image.platform or "").lower() == "windows" for image in images)
