"""Kits for what schedules machines by itself: eksctl, Karpenter, ParallelCluster.

Field names: eksctl's v1alpha5 schema; Karpenter's custom resources v1 (capacity reservations
since 1.3, Capacity Blocks since 1.6); ParallelCluster 3, "Launch instances with Capacity Blocks"
(there MinCount equals MaxCount, for the nodes of a block are static).
"""

from bot.kits.ec2 import subnet_of
from bot.kits.setting import Setting
from bot.kits.writing import Tree, yaml


def eksctl(setting: Setting) -> str:
    """Return a ClusterConfig with one managed node group inside the reservation."""
    group: dict[str, Tree] = {
        "name": setting.reservation,
        "instanceType": setting.instance_type,
        "desiredCapacity": setting.count,
        "minSize": 0,
        "maxSize": setting.count,
        "subnets": [subnet_of(setting)],
        "capacityReservation": {
            "capacityReservationTarget": {"capacityReservationID": setting.capacity_id}
        },
    }
    if setting.block:
        group["instanceMarketOptions"] = {"marketType": "capacity-block"}
    if setting.efa:
        group["efaEnabled"] = True
    group["tags"] = dict(setting.tags)
    return yaml(
        {
            "apiVersion": "eksctl.io/v1alpha5",
            "kind": "ClusterConfig",
            "metadata": {"name": "your-cluster", "region": setting.region},
            "managedNodeGroups": [group],
        }
    )


def karpenter(setting: Setting) -> str:
    """Return an EC2NodeClass that selects the reservation and a NodePool that needs it."""
    node_class: dict[str, Tree] = {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": setting.reservation},
        "spec": {
            "role": "your-karpenter-node-role",
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": [{"id": subnet_of(setting)}],
            "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "your-cluster"}}],
            "capacityReservationSelectorTerms": [{"id": setting.capacity_id}],
            "tags": dict(setting.tags),
        },
    }
    pool: dict[str, Tree] = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": setting.reservation},
        "spec": {
            "template": {
                "spec": {
                    "nodeClassRef": {
                        "group": "karpenter.k8s.aws",
                        "kind": "EC2NodeClass",
                        "name": setting.reservation,
                    },
                    "requirements": _requirements(setting),
                }
            },
        },
    }
    return f"{yaml(node_class)}\n---\n{yaml(pool)}"


def _requirements(setting: Setting) -> list[Tree]:
    wanted = {
        "karpenter.sh/capacity-type": "reserved",
        "node.kubernetes.io/instance-type": setting.instance_type,
        "kubernetes.io/arch": "arm64" if setting.arm else "amd64",
    }
    return [{"key": key, "operator": "In", "values": [value]} for key, value in wanted.items()]


def slurm(setting: Setting) -> str:
    """Return a ParallelCluster configuration with one Slurm queue in the reservation."""
    machines: dict[str, Tree] = {
        "Name": "gpu",
        "InstanceType": setting.instance_type,
        "MinCount": setting.count if setting.block else 0,
        "MaxCount": setting.count,
        "CapacityReservationTarget": {"CapacityReservationId": setting.capacity_id},
    }
    if setting.efa:
        machines["Efa"] = {"Enabled": True}
    queue: dict[str, Tree] = {"Name": setting.reservation}
    if setting.block:
        queue["CapacityType"] = "CAPACITY_BLOCK"
    queue |= {
        "Networking": {"SubnetIds": [subnet_of(setting)]},
        "ComputeResources": [machines],
    }
    return yaml(
        {
            "Region": setting.region,
            "Image": {"Os": "ubuntu2204"},
            "HeadNode": {
                "InstanceType": "m6g.xlarge" if setting.arm else "m5.xlarge",
                "Networking": {"SubnetId": "your-head-node-subnet"},
            },
            "Scheduling": {"Scheduler": "slurm", "SlurmQueues": [queue]},
            "Tags": [{"Key": key, "Value": value} for key, value in setting.tags.items()],
        }
    )
