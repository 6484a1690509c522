"""AWS's answers about endpoints, machines and leftovers, as AWS names their members.

Shapes: botocore ec2 2016-11-15 and sagemaker 2017-07-24, version 1.44.8.
"""

from bot.aws.wire import Moment, Named, Placement, Row, Tag


class VariantReservation(Row):
    """`CapacityReservationConfig` of a variant: what this endpoint holds of the plan."""

    ml_reservation_arn: str | None = None
    total_instance_count: int | None = None
    available_instance_count: int | None = None
    used_by_current_endpoint: int | None = None


class Variant(Row):
    """`ProductionVariants[]` of an endpoint or a configuration."""

    instance_type: str | None = None
    current_instance_count: int | None = None
    initial_instance_count: int | None = None
    capacity_reservation_config: VariantReservation | None = None


class Endpoint(Row):
    """Answer of DescribeEndpoint."""

    endpoint_name: str | None = None
    endpoint_status: str | None = None
    endpoint_config_name: str | None = None
    failure_reason: str | None = None
    production_variants: tuple[Variant, ...] = ()


class EndpointSummary(Row):
    """`Endpoints[]`."""

    endpoint_name: str | None = None
    endpoint_arn: str | None = None
    endpoint_status: str | None = None


class Endpoints(Row):
    """Answer of ListEndpoints."""

    endpoints: tuple[EndpointSummary, ...] = ()


class ConfigurationSummary(Row):
    """`EndpointConfigs[]`."""

    endpoint_config_name: str | None = None
    endpoint_config_arn: str | None = None


class Configurations(Row):
    """Answer of ListEndpointConfigs."""

    endpoint_configs: tuple[ConfigurationSummary, ...] = ()


class Configuration(Row):
    """Answer of DescribeEndpointConfig."""

    endpoint_config_arn: str | None = None
    production_variants: tuple[Variant, ...] = ()


class Reason(Row):
    """`StateReason`."""

    code: str | None = None
    message: str | None = None


class Instance(Row):
    """One EC2 instance with what clean-up and health need."""

    instance_id: str | None = None
    instance_type: str | None = None
    instance_lifecycle: str | None = None
    capacity_reservation_id: str | None = None
    spot_instance_request_id: str | None = None
    launch_time: Moment | None = None
    state: Named = Named()
    placement: Placement = Placement()
    state_reason: Reason = Reason()
    tags: tuple[Tag, ...] = ()


class Launch(Row):
    """`Reservations[]` of DescribeInstances."""

    instances: tuple[Instance, ...] = ()


class Launches(Row):
    """Answer of DescribeInstances."""

    reservations: tuple[Launch, ...] = ()


class Status(Row):
    """A status check: ok, impaired, insufficient-data, not-applicable, initializing."""

    status: str | None = None


class InstanceStatus(Row):
    """`InstanceStatuses[]`."""

    instance_id: str | None = None
    system_status: Status = Status()
    instance_status: Status = Status()


class InstanceStatuses(Row):
    """Answer of DescribeInstanceStatus."""

    instance_statuses: tuple[InstanceStatus, ...] = ()


class BlockReservation(Row):
    """`CapacityReservationStatuses[]` of a block."""

    capacity_reservation_id: str | None = None


class BlockStatus(Row):
    """`CapacityBlockStatuses[]`."""

    interconnect_status: str | None = None
    total_capacity: int | None = None
    total_available_capacity: int | None = None
    total_unavailable_capacity: int | None = None
    capacity_reservation_statuses: tuple[BlockReservation, ...] = ()


class BlockStatuses(Row):
    """Answer of DescribeCapacityBlockStatus."""

    capacity_block_statuses: tuple[BlockStatus, ...] = ()


class SpotStatus(Row):
    """`Status` of a spot request: a code such as marked-for-termination."""

    code: str | None = None
    message: str | None = None


class SpotRequest(Row):
    """`SpotInstanceRequests[]`."""

    spot_instance_request_id: str | None = None
    instance_id: str | None = None
    state: str | None = None
    type: str | None = None
    status: SpotStatus = SpotStatus()
    tags: tuple[Tag, ...] = ()


class SpotRequests(Row):
    """Answer of DescribeSpotInstanceRequests."""

    spot_instance_requests: tuple[SpotRequest, ...] = ()


class Fleet(Row):
    """`Fleets[]`."""

    fleet_id: str | None = None
    fleet_state: str | None = None
    type: str | None = None
    tags: tuple[Tag, ...] = ()


class Fleets(Row):
    """Answer of DescribeFleets."""

    fleets: tuple[Fleet, ...] = ()


class Volume(Row):
    """`Volumes[]`; the size is in GiB."""

    volume_id: str | None = None
    volume_type: str | None = None
    state: str | None = None
    size: int | None = None
    tags: tuple[Tag, ...] = ()


class Volumes(Row):
    """Answer of DescribeVolumes."""

    volumes: tuple[Volume, ...] = ()
