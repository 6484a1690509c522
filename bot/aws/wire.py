"""AWS's answers as AWS names their members: all optional, unknown members and words pass.

Times become aware UTC at once (botocore gives the machine's zone), money `Decimal`.
Shapes: botocore ec2 2016-11-15 and sagemaker 2017-07-24, version 1.44.8.
"""

import re
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict
from pydantic.alias_generators import to_pascal

from bot.domain.values import utc


class Row(BaseModel):
    """The base of all rows: what AWS adds tomorrow is ignored today."""

    model_config = ConfigDict(
        defer_build=True,  # some forty shapes; most starts need none of them
        frozen=True,
        extra="ignore",
        alias_generator=to_pascal,
        populate_by_name=True,
    )


def _money(value: object) -> object:
    text = value.strip() if isinstance(value, str) else value
    return None if text == "" else text


Moment = Annotated[AwareDatetime, AfterValidator(utc)]
Fee = Annotated[Decimal | None, BeforeValidator(_money)]


class Tag(Row):
    """One tag of a resource."""

    key: str | None = None
    value: str | None = None


def tagged(tags: tuple[Tag, ...]) -> dict[str, str]:
    """Return the tags as a mapping."""
    return {tag.key: tag.value or "" for tag in tags if tag.key}


class BlockSegment(Row):
    """`CapacityBlockOfferingSegments[]`, new on 17 November 2026 (botocore 1.44.5)."""

    instance_type: str | None = None
    availability_zone: str | None = None
    availability_zone_id: str | None = None
    zone_type: str | None = None
    instance_count: int | None = None
    start_date: Moment | None = None
    end_date: Moment | None = None


class BlockOffering(Row):
    """`CapacityBlockOfferings[]`. `UpfrontFee` is a string for everything together.

    The duration is hours plus minutes in two members; the length is read from start and end.
    """

    capacity_block_offering_id: str | None = None
    instance_type: str | None = None
    availability_zone: str | None = None
    zone_type: str | None = None
    instance_count: int | None = None
    start_date: Moment | None = None
    end_date: Moment | None = None
    capacity_block_duration_hours: int | None = None
    capacity_block_duration_minutes: int | None = None
    upfront_fee: Fee = None
    currency_code: str | None = None
    ultraserver_type: str | None = None
    ultraserver_count: int | None = None
    capacity_block_offering_segments: tuple[BlockSegment, ...] = ()


class BlockOfferings(Row):
    """Answer of DescribeCapacityBlockOfferings."""

    capacity_block_offerings: tuple[BlockOffering, ...] = ()


class BlockExtensionOffering(Row):
    """`CapacityBlockExtensionOfferings[]`."""

    capacity_block_extension_offering_id: str | None = None
    instance_type: str | None = None
    instance_count: int | None = None
    availability_zone: str | None = None
    availability_zone_id: str | None = None
    zone_type: str | None = None
    capacity_block_extension_start_date: Moment | None = None
    capacity_block_extension_end_date: Moment | None = None
    upfront_fee: Fee = None
    currency_code: str | None = None


class BlockExtensionOfferings(Row):
    """Answer of DescribeCapacityBlockExtensionOfferings."""

    capacity_block_extension_offerings: tuple[BlockExtensionOffering, ...] = ()


class BlockExtension(Row):
    """`CapacityBlockExtensions[]`: a bought extension and what became of its payment."""

    capacity_reservation_id: str | None = None
    capacity_block_extension_offering_id: str | None = None
    capacity_block_extension_status: str | None = None
    capacity_block_extension_start_date: Moment | None = None
    capacity_block_extension_end_date: Moment | None = None
    availability_zone: str | None = None
    instance_type: str | None = None
    instance_count: int | None = None


class BlockExtensions(Row):
    """Answer of PurchaseCapacityBlockExtension and of its history."""

    capacity_block_extensions: tuple[BlockExtension, ...] = ()


_COUNT = re.compile(r"[0-9]{1,9}")


class Reservation(Row):
    """`CapacityReservations[]`: blocks and ODCRs alike.

    Before a block starts its counts are zero; the size is in a system tag (EC2 User Guide,
    "View Capacity Blocks").
    """

    capacity_reservation_id: str | None = None
    owner_id: str | None = None
    instance_type: str | None = None
    availability_zone: str | None = None
    availability_zone_id: str | None = None
    state: str | None = None
    reservation_type: str | None = None
    total_instance_count: int | None = None
    available_instance_count: int | None = None
    start_date: Moment | None = None
    end_date: Moment | None = None
    create_date: Moment | None = None
    tags: tuple[Tag, ...] = ()
    interruptible: bool | None = None

    @property
    def is_block(self) -> bool:
        """Whether it is a Capacity Block."""
        return self.reservation_type == "capacity-block"

    @property
    def count(self) -> int | None:
        """How many machines it holds or will hold."""
        size = tagged(self.tags).get("aws:ec2capacityreservation:incrementalRequestedQuantity")
        if self.total_instance_count:
            return self.total_instance_count
        return int(size) if size and _COUNT.fullmatch(size) else self.total_instance_count


class Reservations(Row):
    """Answer of DescribeCapacityReservations."""

    capacity_reservations: tuple[Reservation, ...] = ()


class CapacityBlock(Row):
    """`CapacityBlocks[]`."""

    capacity_block_id: str | None = None
    capacity_reservation_ids: tuple[str, ...] = ()


class BlockPurchase(Row):
    """Answer of PurchaseCapacityBlock: the plural member has one reservation per segment."""

    capacity_reservation: Reservation | None = None
    capacity_reservations: tuple[Reservation, ...] = ()
    capacity_blocks: tuple[CapacityBlock, ...] = ()

    @property
    def all(self) -> tuple[Reservation, ...]:
        """Return every reservation that was made, each once."""
        single = (self.capacity_reservation,) if self.capacity_reservation else ()
        found = {
            item.capacity_reservation_id: item for item in (*single, *self.capacity_reservations)
        }
        return tuple(item for name, item in found.items() if name)


class ReservationMade(Row):
    """Answer of CreateCapacityReservation."""

    capacity_reservation: Reservation | None = None


class BlockStatus(Row):
    """`CapacityBlockStatuses[]`: capacity that a failed status check makes unavailable."""

    capacity_block_id: str | None = None
    total_unavailable_capacity: int | None = None
    capacity_reservation_statuses: tuple[Reservation, ...] = ()


class BlockStatuses(Row):
    """Answer of DescribeCapacityBlockStatus."""

    capacity_block_statuses: tuple[BlockStatus, ...] = ()


class PlanSegment(Row):
    """`ReservedCapacityOfferings[]` and `ReservedCapacitySummaries[]`."""

    instance_type: str | None = None
    instance_count: int | None = None
    total_instance_count: int | None = None
    ultra_server_type: str | None = None
    ultra_server_count: int | None = None
    availability_zone: str | None = None
    availability_zone_id: str | None = None
    start_time: Moment | None = None
    end_time: Moment | None = None


class PlanOffering(Row):
    """`TrainingPlanOfferings[]`. The fee covers all segments and machines together."""

    training_plan_offering_id: str | None = None
    target_resources: tuple[str, ...] = ()
    upfront_fee: Fee = None
    currency_code: str | None = None
    reserved_capacity_offerings: tuple[PlanSegment, ...] = ()


class PlanExtensionOffering(Row):
    """`TrainingPlanExtensionOfferings[]`."""

    training_plan_extension_offering_id: str | None = None
    availability_zone: str | None = None
    start_date: Moment | None = None
    end_date: Moment | None = None
    upfront_fee: Fee = None
    currency_code: str | None = None


class PlanOfferings(Row):
    """Answer of SearchTrainingPlanOfferings."""

    training_plan_offerings: tuple[PlanOffering, ...] = ()
    training_plan_extension_offerings: tuple[PlanExtensionOffering, ...] = ()


class Plan(Row):
    """Answer of DescribeTrainingPlan, and `TrainingPlanSummaries[]`."""

    training_plan_arn: str | None = None
    training_plan_name: str | None = None
    status: str | None = None
    status_message: str | None = None
    start_time: Moment | None = None
    end_time: Moment | None = None
    total_instance_count: int | None = None
    available_instance_count: int | None = None
    in_use_instance_count: int | None = None
    unhealthy_instance_count: int | None = None
    target_resources: tuple[str, ...] = ()
    reserved_capacity_summaries: tuple[PlanSegment, ...] = ()


class Plans(Row):
    """Answer of ListTrainingPlans."""

    training_plan_summaries: tuple[Plan, ...] = ()


class PlanMade(Row):
    """Answer of CreateTrainingPlan: only the ARN, while the plan is still pending."""

    training_plan_arn: str | None = None


class PlanExtension(Row):
    """`TrainingPlanExtensions[]`. Both states are free strings."""

    training_plan_extension_offering_id: str | None = None
    status: str | None = None
    payment_status: str | None = None
    start_date: Moment | None = None
    end_date: Moment | None = None


class PlanExtensions(Row):
    """Answer of ExtendTrainingPlan and of its history."""

    training_plan_extensions: tuple[PlanExtension, ...] = ()


class Tags(Row):
    """Answer of SageMaker's ListTags."""

    tags: tuple[Tag, ...] = ()


class Named(Row):
    """A state by its name (EC2 instances)."""

    name: str | None = None


class Placement(Row):
    """Where an instance runs."""

    availability_zone: str | None = None


class Instance(Row):
    """One EC2 instance."""

    instance_id: str | None = None
    instance_type: str | None = None
    instance_lifecycle: str | None = None
    capacity_reservation_id: str | None = None
    launch_time: Moment | None = None
    state: Named = Named()
    placement: Placement = Placement()


class Launch(Row):
    """`Reservations[]` of DescribeInstances, and the answer of RunInstances."""

    reservation_id: str | None = None
    instances: tuple[Instance, ...] = ()


class Launches(Row):
    """Answer of DescribeInstances."""

    reservations: tuple[Launch, ...] = ()


class SpotPrice(Row):
    """`SpotPriceHistory[]`: an entry is a change of the price, in no promised order."""

    availability_zone: str | None = None
    instance_type: str | None = None
    spot_price: Fee = None
    timestamp: Moment | None = None


class SpotPrices(Row):
    """Answer of DescribeSpotPriceHistory."""

    spot_price_history: tuple[SpotPrice, ...] = ()


class SpotScore(Row):
    """`SpotPlacementScores[]`."""

    region: str | None = None
    availability_zone_id: str | None = None
    score: int | None = None


class SpotScores(Row):
    """Answer of GetSpotPlacementScores."""

    spot_placement_scores: tuple[SpotScore, ...] = ()


class Zone(Row):
    """`AvailabilityZones[]`, Local Zones included."""

    zone_name: str | None = None
    zone_id: str | None = None
    zone_type: str | None = None
    opt_in_status: str | None = None


class Zones(Row):
    """Answer of DescribeAvailabilityZones."""

    availability_zones: tuple[Zone, ...] = ()
