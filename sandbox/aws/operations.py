"""Which operations the simulated AWS offers, and who answers each of them."""

from collections.abc import Callable
from typing import Any

from sandbox.aws import metrics, prices, queues, quotas, ram
from sandbox.aws.ec2 import (
    blocks,
    extensions,
    fleets,
    instances,
    offerings,
    places,
    reservations,
    spot,
)
from sandbox.aws.sagemaker import endpoints, planbooks, plans, tagging
from sandbox.aws.world import Call, World

Handler = Callable[[World, Call], dict[str, Any]]

OPERATIONS: dict[tuple[str, str], Handler] = {
    ("ec2", "DescribeCapacityBlockOfferings"): offerings.describe_offerings,
    ("ec2", "PurchaseCapacityBlock"): blocks.purchase_block,
    ("ec2", "DescribeCapacityBlocks"): blocks.describe_blocks,
    ("ec2", "DescribeCapacityBlockStatus"): blocks.describe_block_status,
    ("ec2", "DescribeCapacityBlockExtensionOfferings"): extensions.describe_extension_offerings,
    ("ec2", "PurchaseCapacityBlockExtension"): extensions.purchase_extension,
    ("ec2", "DescribeCapacityBlockExtensionHistory"): extensions.describe_extension_history,
    ("ec2", "DescribeCapacityReservations"): reservations.describe_reservations,
    ("ec2", "CreateCapacityReservation"): reservations.create_reservation,
    ("ec2", "CancelCapacityReservation"): reservations.cancel_reservation,
    ("ec2", "ModifyCapacityReservation"): reservations.modify_reservation,
    ("ec2", "RunInstances"): instances.run_instances,
    ("ec2", "CreateFleet"): fleets.create_fleet,
    ("ec2", "DescribeInstances"): instances.describe_instances,
    ("ec2", "DescribeInstanceStatus"): instances.describe_instance_status,
    ("ec2", "TerminateInstances"): instances.terminate_instances,
    ("ec2", "DescribeSpotPriceHistory"): spot.describe_price_history,
    ("ec2", "GetSpotPlacementScores"): spot.get_placement_scores,
    ("ec2", "DescribeSpotInstanceRequests"): spot.describe_requests,
    ("ec2", "DescribeAvailabilityZones"): places.describe_zones,
    ("ec2", "CreateTags"): places.create_tags,
    ("sagemaker", "SearchTrainingPlanOfferings"): planbooks.search,
    ("sagemaker", "CreateTrainingPlan"): plans.create_plan,
    ("sagemaker", "DescribeTrainingPlan"): planbooks.describe_plan,
    ("sagemaker", "ListTrainingPlans"): planbooks.list_plans,
    ("sagemaker", "ExtendTrainingPlan"): planbooks.extend_plan,
    ("sagemaker", "DescribeTrainingPlanExtensionHistory"): planbooks.describe_extension_history,
    ("sagemaker", "DescribeReservedCapacity"): planbooks.describe_reserved_capacity,
    ("sagemaker", "ListTags"): planbooks.list_tags,
    ("sagemaker", "AddTags"): tagging.add_tags,
    ("sagemaker", "CreateModel"): endpoints.create_model,
    ("sagemaker", "DescribeModel"): endpoints.describe_model,
    ("sagemaker", "DeleteModel"): endpoints.delete_model,
    ("sagemaker", "ListModels"): endpoints.list_models,
    ("sagemaker", "CreateEndpointConfig"): endpoints.create_config,
    ("sagemaker", "DescribeEndpointConfig"): endpoints.describe_config,
    ("sagemaker", "DeleteEndpointConfig"): endpoints.delete_config,
    ("sagemaker", "ListEndpointConfigs"): endpoints.list_configs,
    ("sagemaker", "CreateEndpoint"): endpoints.create_endpoint,
    ("sagemaker", "DescribeEndpoint"): endpoints.describe_endpoint,
    ("sagemaker", "DeleteEndpoint"): endpoints.delete_endpoint,
    ("sagemaker", "ListEndpoints"): endpoints.list_endpoints,
    ("cloudwatch", "ListMetrics"): metrics.list_metrics,
    ("cloudwatch", "GetMetricData"): metrics.get_data,
    ("sqs", "SendMessage"): queues.send,
    ("sqs", "ReceiveMessage"): queues.receive,
    ("sqs", "DeleteMessage"): queues.delete,
    ("pricing", "GetProducts"): prices.get_products,
    ("ram", "CreateResourceShare"): ram.create_share,
    ("ram", "AssociateResourceShare"): ram.associate_share,
    ("ram", "DisassociateResourceShare"): ram.disassociate_share,
    ("ram", "DeleteResourceShare"): ram.delete_share,
    ("ram", "GetResourceShares"): ram.get_shares,
    ("ram", "GetResourceShareAssociations"): ram.get_associations,
    ("service-quotas", "ListServiceQuotas"): quotas.list_quotas,
    ("service-quotas", "ListAWSDefaultServiceQuotas"): quotas.list_defaults,
    ("service-quotas", "GetServiceQuota"): quotas.get_quota,
    ("service-quotas", "GetAWSDefaultServiceQuota"): quotas.get_default,
}
"""The operations that are answered here."""

FROM_MOTO = {
    ("ec2", name)
    for name in (
        "CreateLaunchTemplate",
        "CreateLaunchTemplateVersion",
        "CreateVolume",
        "DeleteVolume",
        "DescribeFleets",
        "DescribeImages",
        "DescribeInstanceTypeOfferings",
        "DescribeInstanceTypes",
        "DescribeLaunchTemplateVersions",
        "DescribeLaunchTemplates",
        "DescribeRegions",
        "DescribeSecurityGroups",
        "DescribeSubnets",
        "DescribeVolumes",
        "DescribeVpcs",
    )
} | {("sts", "GetCallerIdentity"), ("sts", "AssumeRole")}
"""The operations that moto answers faithfully enough; all others are refused by name."""
