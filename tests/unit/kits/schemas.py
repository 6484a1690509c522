"""The fields that the tools know and require, as data (`!` marks what is required).

Sources, read in November 2026: eksctl `pkg/apis/eksctl.io/v1alpha5/assets/schema.json` (its
objects refuse unknown names); Karpenter custom resource definitions karpenter.k8s.aws/v1
EC2NodeClass and karpenter.sh/v1 NodePool; AWS ParallelCluster 3 user guide, "Cluster
configuration file" and "Launch instances with Capacity Blocks". Only what a kit may use stands
here, so that a misspelt field is refused.
"""

EKSCTL = {
    "apiVersion!": ("eksctl.io/v1alpha5",),
    "kind!": ("ClusterConfig",),
    "metadata!": {"name!": "text", "region!": "text"},
    "managedNodeGroups": [
        {
            "name!": "text",
            "instanceType": "text",
            "desiredCapacity": "number",
            "minSize": "number",
            "maxSize": "number",
            "subnets": ["text"],
            "efaEnabled": "yes-no",
            "capacityReservation": {"capacityReservationTarget": {"capacityReservationID": "text"}},
            "instanceMarketOptions": {"marketType": ("capacity-block",)},
            "tags": "map",
        }
    ],
}

NODE_CLASS = {
    "apiVersion!": ("karpenter.k8s.aws/v1",),
    "kind!": ("EC2NodeClass",),
    "metadata!": {"name!": "text"},
    "spec!": {
        "role": "text",
        "amiSelectorTerms!": [{"alias": ("al2023@latest",)}],
        "subnetSelectorTerms!": [{"id": "text"}],
        "securityGroupSelectorTerms!": [{"tags": "map"}],
        "capacityReservationSelectorTerms": [{"id!": "text"}],
        "tags": "map",
    },
}

NODE_POOL = {
    "apiVersion!": ("karpenter.sh/v1",),
    "kind!": ("NodePool",),
    "metadata!": {"name!": "text"},
    "spec!": {
        "template!": {
            "spec!": {
                "nodeClassRef!": {
                    "group!": ("karpenter.k8s.aws",),
                    "kind!": ("EC2NodeClass",),
                    "name!": "text",
                },
                "requirements!": [{"key!": "text", "operator!": ("In",), "values": ["text"]}],
            }
        }
    },
}

PARALLELCLUSTER = {
    "Region": "text",
    "Image!": {"Os!": ("ubuntu2204",)},
    "HeadNode!": {"InstanceType!": "text", "Networking!": {"SubnetId!": "text"}},
    "Scheduling!": {
        "Scheduler!": ("slurm",),
        "SlurmQueues!": [
            {
                "Name!": "text",
                "CapacityType": ("CAPACITY_BLOCK",),
                "Networking!": {"SubnetIds!": ["text"]},
                "ComputeResources!": [
                    {
                        "Name!": "text",
                        "InstanceType": "text",
                        "MinCount": "number",
                        "MaxCount": "number",
                        "CapacityReservationTarget": {"CapacityReservationId": "text"},
                        "Efa": {"Enabled!": "yes-no"},
                    }
                ],
            }
        ],
    },
    "Tags": [{"Key!": "text", "Value!": "text"}],
}
