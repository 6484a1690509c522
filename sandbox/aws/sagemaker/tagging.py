"""AddTags: SageMaker's own way to change the tags of what exists."""

from typing import TYPE_CHECKING, Any

from sandbox.aws.errors import AwsError
from sandbox.aws.world import Call, World

if TYPE_CHECKING:
    from sandbox.aws.records import Endpoint, Plan

MOST_TAGS = 50
"""SageMaker API Reference, AddTags: at most 50 tags on a resource."""


def add_tags(world: World, call: Call) -> dict[str, Any]:
    """Set tags of a plan or an endpoint; a key that is there gets the new value.

    Raises:
        AwsError: there is no such resource, or it would have too many tags.
    """
    place = world.place(call.account, call.region)
    wanted = call.params.get("ResourceArn", "")
    tags = {one["Key"]: one["Value"] for one in call.params.get("Tags", ())}
    resources: list[Plan | Endpoint] = [*place.plans.values(), *place.endpoints.values()]
    for resource in resources:
        if resource.arn != wanted:
            continue
        if len({**resource.tags, **tags}) > MOST_TAGS:
            raise AwsError("ValidationException", f"A resource has at most {MOST_TAGS} tags.")
        resource.tags.update(tags)
        return {"Tags": [{"Key": key, "Value": value} for key, value in resource.tags.items()]}
    raise AwsError("ValidationException", f"Could not find resource {wanted}.")
