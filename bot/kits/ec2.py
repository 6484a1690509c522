"""Kits that start machines in a Capacity Block or an on-demand reservation.

EC2 User Guide, "Launch instances using Capacity Blocks": the market type is `capacity-block`
and the reservation is named; placement groups are refused; the image must be of the platform
that was bought and the subnet in the reservation's zone.
"""

from bot.kits.setting import Setting
from bot.kits.writing import Tree, command, hcl, python_call

IMAGE = "your-ami-id"


def subnet_of(setting: Setting) -> str:
    """Return the account's subnet in the zone, or a word to replace."""
    return setting.subnet or f"your-subnet-in-{setting.zone or setting.region}"


def target(setting: Setting) -> dict[str, Tree]:
    """Return the lines that lead into the reservation and nowhere else."""
    into: dict[str, Tree] = {}
    if setting.block:
        into["InstanceMarketOptions"] = {"MarketType": "capacity-block"}
    into["CapacityReservationSpecification"] = {
        "CapacityReservationTarget": {"CapacityReservationId": setting.capacity_id}
    }
    return into


def _image(setting: Setting) -> dict[str, Tree]:
    if setting.template is not None:
        return {"LaunchTemplate": {"LaunchTemplateId": setting.template}}
    return {"ImageId": IMAGE}


def _tags(setting: Setting, *kinds: str) -> list[Tree]:
    tags: list[Tree] = [{"Key": key, "Value": value} for key, value in setting.tags.items()]
    return [{"ResourceType": kind, "Tags": tags} for kind in kinds]


def _common(setting: Setting) -> dict[str, Tree]:
    return {
        **_image(setting),
        "InstanceType": setting.instance_type,
        "SubnetId": subnet_of(setting),
        **target(setting),
        "TagSpecifications": _tags(setting, "instance", "volume"),
    }


def cli(setting: Setting) -> str:
    """Return `aws ec2 run-instances`; the command line has one `--count` for both bounds."""
    options: dict[str, Tree] = {"Count": str(setting.count), **_common(setting)}
    return command("ec2", "run_instances", setting.region, options)


def boto3(setting: Setting) -> str:
    """Return the same as Python."""
    count: dict[str, Tree] = {"MinCount": setting.count, "MaxCount": setting.count}
    return python_call("ec2", "run_instances", setting.region, count | _common(setting))


def template(setting: Setting) -> str:
    """Return a launch template that leads into the reservation."""
    data: dict[str, Tree] = {
        "InstanceType": setting.instance_type,
        "ImageId": IMAGE,
        **target(setting),
        "NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": subnet_of(setting)}],
        "TagSpecifications": _tags(setting, "instance", "volume"),
    }
    options: dict[str, Tree] = {
        "LaunchTemplateName": f"gpubot-{setting.reservation}",
        "LaunchTemplateData": data,
    }
    return command("ec2", "create_launch_template", setting.region, options)


def terraform(setting: Setting) -> str:
    """Return `aws_instance` resources of the Terraform AWS provider."""
    body: dict[str, Tree] = {"count": setting.count}
    if setting.template is not None:
        body["launch_template"] = {"id": setting.template}
    else:
        body["ami"] = IMAGE
    body |= {"instance_type": setting.instance_type, "subnet_id": subnet_of(setting)}
    if setting.block:
        body["instance_market_options"] = {"market_type": "capacity-block"}
    body |= {
        "capacity_reservation_specification": {
            "capacity_reservation_target": {"capacity_reservation_id": setting.capacity_id}
        },
        "tags =": {f'"{key}"': value for key, value in setting.tags.items()},
        "volume_tags =": {f'"{key}"': value for key, value in setting.tags.items()},
    }
    provider: dict[str, Tree] = {"region": setting.region}
    return hcl({'provider "aws"': provider, 'resource "aws_instance" "gpu"': body})


def described(setting: Setting, *, as_python: bool) -> str:
    """Return how to see machines that were started already (on demand, spot)."""
    options: dict[str, Tree] = {
        "Filters": [{"Name": "tag:gpubot:purchase", "Values": [setting.purchase]}]
    }
    write = python_call if as_python else command
    return write("ec2", "describe_instances", setting.region, options)
