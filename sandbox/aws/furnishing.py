"""What an account owns from the start in moto's books: a launch template, and true images."""

from moto.ec2.models import ec2_backends

LINUX_TEMPLATE_ID = "lt-0a11ce0000000001"
"""The same id in every account and Region, so that a configuration can name it beforehand."""

LINUX_TEMPLATE_NAME = "sandbox-linux"


def furnish(account: str, region: str) -> None:
    """Furnishes an account's books in a Region, unless they are furnished.

    The template names a Linux image and nothing else: type, count and place come with the launch.
    Images get the `PlatformDetails` that EC2 always tells and moto leaves out.
    """
    backend = ec2_backends[account][region]
    if LINUX_TEMPLATE_ID in backend.launch_templates:
        return
    linux = []
    for image in backend.amis.values():
        windows = str(image.platform or "").lower() == "windows"
        # The serialiser reads attributes by the snake case of botocore's names.
        vars(image)["platform_details"] = "Windows" if windows else "Linux/UNIX"
        if not windows:
            linux.append(image.id)
    if not linux:
        return
    made = backend.create_launch_template(LINUX_TEMPLATE_NAME, "", {"ImageId": linux[0]}, {})
    del backend.launch_templates[made.id]
    made.id = LINUX_TEMPLATE_ID
    backend.launch_template_insert_order[-1] = made.id
    backend.launch_templates[made.id] = made
    backend.launch_template_name_to_ids[made.name] = made.id
