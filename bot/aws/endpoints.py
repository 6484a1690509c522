"""SageMaker endpoints that run on a training plan and on nothing else.

SageMaker Developer Guide, "Utilize training plans for inference endpoints": the variant names
the plan, its type is the plan's, and the only preference is `capacity-reservations-only`.
"""

from typing import Final

from botocore.client import BaseClient

from bot.aws import use_rows
from bot.aws.calls import Answer, read, spend, understood
from bot.aws.clients import Clients
from bot.aws.removals import absent, remove
from bot.aws.training_plan_buyer import read_plan
from bot.aws.use_tags import order_tags
from bot.domain.errors import MarketError
from bot.domain.records import Receipt
from bot.domain.using import EndpointOrder, EndpointView, PlanView
from bot.policy.configuration import Account

VARIANT: Final = "primary"
_EXTENSION: Final = "#"


class AwsEndpoints:
    """See bot.ports.Endpoints."""

    def __init__(self, accounts: tuple[Account, ...], *, clients: Clients | None = None) -> None:
        self.clients = clients or Clients(accounts)

    def plan(self, receipt: Receipt) -> PlanView | None:
        """See bot.ports.Endpoints."""
        name = receipt.id.partition(_EXTENSION)[0].rpartition("/")[2]
        plan = read_plan(self.clients, receipt.account, receipt.region, name)
        if plan is None:
            return None
        return PlanView(
            status=plan.status or "unknown",
            targets=plan.target_resources,
            total=plan.total_instance_count,
            available=plan.available_instance_count,
        )

    def configured(self, order: EndpointOrder) -> bool:
        """See bot.ports.Endpoints."""
        return self._described(order, "describe_endpoint_config", "EndpointConfigName") is not None

    def look(self, order: EndpointOrder) -> EndpointView | None:
        """See bot.ports.Endpoints."""
        answer = self._described(order, "describe_endpoint", "EndpointName")
        if answer is None:
            return None
        row = understood(use_rows.Endpoint, answer)
        held = next(
            (
                variant.capacity_reservation_config
                for variant in row.production_variants
                if variant.capacity_reservation_config is not None
            ),
            use_rows.VariantReservation(),
        )
        return EndpointView(
            status=row.endpoint_status or "unknown",
            reason=row.failure_reason or "",
            plan_arn=held.ml_reservation_arn,
            used=held.used_by_current_endpoint,
            total=held.total_instance_count,
            available=held.available_instance_count,
        )

    def configure(self, order: EndpointOrder) -> None:
        """See bot.ports.Endpoints."""
        spend(
            self._sending(order),
            "create_endpoint_config",
            after_doubt=False,
            EndpointConfigName=order.name,
            ProductionVariants=[
                {
                    "VariantName": VARIANT,
                    "ModelName": order.model,
                    "InitialInstanceCount": order.count,
                    "InstanceType": order.instance_type,
                    "CapacityReservationConfig": {
                        "CapacityReservationPreference": "capacity-reservations-only",
                        "MlReservationArn": order.plan_arn,
                    },
                }
            ],
            Tags=order_tags(order),
        )

    def create(self, order: EndpointOrder) -> None:
        """See bot.ports.Endpoints."""
        spend(
            self._sending(order),
            "create_endpoint",
            after_doubt=False,
            EndpointName=order.name,
            EndpointConfigName=order.name,
            Tags=order_tags(order),
        )

    def delete(self, order: EndpointOrder) -> None:
        """See bot.ports.Endpoints."""
        self._remove(order, "delete_endpoint", "EndpointName")

    def unconfigure(self, order: EndpointOrder) -> None:
        """See bot.ports.Endpoints."""
        self._remove(order, "delete_endpoint_config", "EndpointConfigName")

    def _sending(self, order: EndpointOrder) -> BaseClient:
        return self.clients.spending("sagemaker", order.account, order.region, purpose="launch")

    def _remove(self, order: EndpointOrder, operation: str, key: str) -> None:
        remove(
            self.clients, "sagemaker", order.account, order.region, operation, **{key: order.name}
        )

    def _described(self, order: EndpointOrder, operation: str, key: str) -> Answer | None:
        client = self.clients.reading("sagemaker", order.account, order.region)
        try:
            return read(client, operation, **{key: order.name})
        except MarketError as error:
            code, _, text = error.detail.partition(": ")
            if absent(code, text):
                return None
            raise
