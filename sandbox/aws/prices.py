"""The Price List: GetProducts, with the rows that mislead as well as those that help.

Beside the rate there is an unused-reservation row, an allocated-reservation row at 0.00 and, for
types that blocks are sold of, a Capacity Block row at 0.00 (AWS Price List Query API, 2026).
"""

import hashlib
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from sandbox.aws.catalog import Catalog
from sandbox.aws.errors import AwsError
from sandbox.aws.paging import page, with_token
from sandbox.aws.world import Call, World

ENDPOINT_REGIONS = {"us-east-1", "eu-central-1", "ap-south-1"}
PUBLISHED = "2026-10-07T00:00:00Z"
STATUSES = {
    "Used": Decimal(1),
    "UnusedCapacityReservation": Decimal(1),
    "AllocatedCapacityReservation": Decimal(0),
}
SAGEMAKER_MARKUP = {"p": Decimal("1.15"), "trn": Decimal("1.15"), "g": Decimal("1.25")}
"""SageMaker list price over EC2's, seen 2026-06-15: 1.15 for P4 and P5, 1.25 for most of G6."""
COMPONENTS = ("Training", "Hosting")


def get_products(world: World, call: Call) -> dict[str, Any]:
    """GetProducts of AmazonEC2 or AmazonSageMaker; every filter must hold.

    Raises:
        ConnectionResetError: the Region has no Price List endpoint.
        AwsError: the service is unknown.
    """
    if call.region not in ENDPOINT_REGIONS:
        raise ConnectionResetError(f"there is no Price List endpoint in {call.region}")
    params = call.params
    service = params.get("ServiceCode")
    if service == "AmazonEC2":
        rows = _ec2_rows(world.catalog)
    elif service == "AmazonSageMaker":
        rows = _sagemaker_rows(world.catalog)
    else:
        raise AwsError("NotFoundException", f"The service {service} is not found.")
    filters = params.get("Filters") or []
    kept = [
        _product(str(service), attributes, rate)
        for attributes, rate in rows
        if all(_passes(row, attributes) for row in filters)
    ]
    found, token = page(kept, params, default=100, most=100)
    return with_token({"FormatVersion": "aws_v1", "PriceList": found}, token)


def _passes(row: dict[str, Any], attributes: dict[str, str]) -> bool:
    value, wanted = attributes.get(row["Field"]), row["Value"]
    match row["Type"]:
        case "CONTAINS":
            return value is not None and str(wanted) in value
        case "ANY_OF":
            return value in str(wanted).split(",")
        case "NONE_OF":
            return value not in str(wanted).split(",")
        case _:
            return bool(value == wanted)


def _ec2_rows(catalog: Catalog) -> Iterator[tuple[dict[str, str], Decimal]]:
    for (region, instance_type), rate in catalog.on_demand_rates.items():
        for status, share in STATUSES.items():
            yield _ec2_attributes(catalog, region, instance_type, "OnDemand", status), rate * share
    for region, instance_type, local_zone in catalog.block_rates:
        if not local_zone:
            yield (
                _ec2_attributes(catalog, region, instance_type, "CapacityBlock", "Used"),
                Decimal(0),
            )


def _ec2_attributes(
    catalog: Catalog, region: str, instance_type: str, market: str, status: str
) -> dict[str, str]:
    usage = {"Used": "BoxUsage", "UnusedCapacityReservation": "UnusedBox"}.get(
        status, "Reservation"
    )
    kind = catalog.kinds.get(instance_type)
    return {
        "servicecode": "AmazonEC2",
        "servicename": "Amazon Elastic Compute Cloud",
        "instanceType": instance_type,
        "regionCode": region,
        "locationType": "AWS Region",
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "licenseModel": "No License required",
        "capacitystatus": status,
        "marketoption": market,
        "operation": "RunInstances:CB" if market == "CapacityBlock" else "RunInstances",
        "usagetype": f"{region}-{usage}:{instance_type}",
        "vcpu": str(kind.vcpus) if kind else "",
    }


def _sagemaker_rows(catalog: Catalog) -> Iterator[tuple[dict[str, str], Decimal]]:
    for (region, instance_type), rate in catalog.on_demand_rates.items():
        kind = catalog.kinds.get(instance_type)
        if kind is None or not kind.ml_instance_type:
            continue
        family = "trn" if instance_type.startswith("trn") else instance_type[0]
        price = rate * SAGEMAKER_MARKUP.get(family, Decimal("1.25"))
        for component in COMPONENTS:
            yield (
                {
                    "servicecode": "AmazonSageMaker",
                    "instanceName": kind.ml_instance_type,
                    "instanceType": f"{kind.ml_instance_type}-{component}",
                    "regionCode": region,
                    "component": component,
                    "usagetype": f"{region}-{component}:{kind.ml_instance_type}",
                    "vCpu": str(kind.vcpus),
                },
                price,
            )


def _product(service: str, attributes: dict[str, str], rate: Decimal) -> str:
    drawn = hashlib.sha256(json.dumps(attributes, sort_keys=True).encode()).hexdigest().upper()
    sku, term, dimension = drawn[:16], "JRTCKXETXF", "6YS6EN2CT7"
    unit = f"{rate:.10f}"
    return json.dumps(
        {
            "product": {
                "productFamily": ("Compute Instance" if service == "AmazonEC2" else "ML Instance"),
                "attributes": attributes,
                "sku": sku,
            },
            "serviceCode": service,
            "terms": {
                "OnDemand": {
                    f"{sku}.{term}": {
                        "priceDimensions": {
                            f"{sku}.{term}.{dimension}": {
                                "unit": "Hrs",
                                "endRange": "Inf",
                                "description": f"${unit} per hour of {attributes['usagetype']}",
                                "appliesTo": [],
                                "rateCode": f"{sku}.{term}.{dimension}",
                                "beginRange": "0",
                                "pricePerUnit": {"USD": unit},
                            }
                        },
                        "sku": sku,
                        "effectiveDate": PUBLISHED,
                        "offerTermCode": term,
                        "termAttributes": {},
                    }
                }
            },
            "version": PUBLISHED.replace("-", "").replace(":", "")[:15],
            "publicationDate": PUBLISHED,
        }
    )
