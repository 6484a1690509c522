"""Kits that use a SageMaker training plan; its ARN goes to another place for each target.

SageMaker Developer Guide, "Utilize training plans": a job and a cluster may be prepared while
the plan is Scheduled, an endpoint and a Studio app only once it is Active. The plan belongs to
its target for life.
"""

from collections.abc import Callable

from bot.domain.request import Target
from bot.kits.setting import Setting
from bot.kits.writing import Tree, command, python_call

ROLE = "arn:aws:iam::111122223333:role/your-execution-role"
BUCKET = "s3://your-bucket"
Write = Callable[[str, str, str, dict[str, Tree]], str]


def cli(setting: Setting) -> str:
    """Return the AWS CLI commands for the plan's target."""
    return "\n\n".join(
        command("sagemaker", operation, setting.region, options)
        for operation, options in _calls(setting)
    )


def boto3(setting: Setting) -> str:
    """Return the same as Python."""
    return "\n\n".join(
        python_call("sagemaker", operation, setting.region, options)
        for operation, options in _calls(setting)
    )


def _calls(setting: Setting) -> list[tuple[str, dict[str, Tree]]]:
    match setting.target:
        case Target.HYPERPOD:
            return [("create_cluster", _cluster(setting))]
        case Target.ENDPOINT:
            return [
                ("create_endpoint_config", _endpoint_config(setting)),
                ("create_endpoint", _endpoint(setting)),
            ]
        case Target.STUDIO:
            return [("create_app", _app(setting))]
        case _:
            return [("create_training_job", _job(setting))]


def _name(setting: Setting) -> str:
    return f"{setting.reservation}-run"


def _tags(setting: Setting) -> list[Tree]:
    return [{"Key": key, "Value": value} for key, value in setting.tags.items()]


def _job(setting: Setting) -> dict[str, Tree]:
    return {
        "TrainingJobName": _name(setting),
        "AlgorithmSpecification": {
            "TrainingImage": "your-training-image-uri",
            "TrainingInputMode": "File",
        },
        "RoleArn": ROLE,
        "OutputDataConfig": {"S3OutputPath": f"{BUCKET}/output"},
        "ResourceConfig": {
            "InstanceType": setting.instance_type,
            "InstanceCount": setting.count,
            "VolumeSizeInGB": 500,
            "TrainingPlanArn": setting.capacity_id,
        },
        "StoppingCondition": {"MaxRuntimeInSeconds": 86400},
        "Tags": _tags(setting),
    }


def _cluster(setting: Setting) -> dict[str, Tree]:
    return {
        "ClusterName": _name(setting),
        "InstanceGroups": [
            {
                "InstanceGroupName": "workers",
                "InstanceType": setting.instance_type,
                "InstanceCount": setting.count,
                "ThreadsPerCore": 1,
                "ExecutionRole": ROLE,
                "LifeCycleConfig": {
                    "SourceS3Uri": f"{BUCKET}/lifecycle",
                    "OnCreate": "on_create.sh",
                },
                "TrainingPlanArn": setting.capacity_id,
            }
        ],
        "VpcConfig": {
            "SecurityGroupIds": ["your-security-group-id"],
            "Subnets": [setting.subnet or f"your-subnet-in-{setting.zone or setting.region}"],
        },
        "Tags": _tags(setting),
    }


def _endpoint_config(setting: Setting) -> dict[str, Tree]:
    return {
        "EndpointConfigName": _name(setting),
        "ProductionVariants": [
            {
                "VariantName": "primary",
                "ModelName": "your-model-name",
                "InitialInstanceCount": setting.count,
                "InstanceType": setting.instance_type,
                "CapacityReservationConfig": {
                    "MlReservationArn": setting.capacity_id,
                    "CapacityReservationPreference": "capacity-reservations-only",
                },
            }
        ],
        "Tags": _tags(setting),
    }


def _endpoint(setting: Setting) -> dict[str, Tree]:
    return {
        "EndpointName": _name(setting),
        "EndpointConfigName": _name(setting),
        "Tags": _tags(setting),
    }


def _app(setting: Setting) -> dict[str, Tree]:
    return {
        "DomainId": "your-domain-id",
        "SpaceName": "your-space-name",
        "AppType": "JupyterLab",
        "AppName": "default",
        "ResourceSpec": {
            "InstanceType": setting.instance_type,
            "TrainingPlanArn": setting.capacity_id,
        },
        "Tags": _tags(setting),
    }
