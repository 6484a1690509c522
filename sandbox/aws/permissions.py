"""Who may call what: the place where policies are enforced, before anything is done."""

from sandbox.aws.errors import AwsError
from sandbox.aws.supply import Supply
from sandbox.aws.world import Call


def check_permission(supply: Supply, call: Call) -> None:
    """Passes a permitted call.

    Raises:
        AwsError: a denial of the supply covers the call; EC2 and the others word it differently.
    """
    for denial in supply.denied:
        if (
            denial.operation == call.operation
            and denial.account in {None, call.account}
            and denial.region in {None, call.region}
        ):
            code = "UnauthorizedOperation" if call.service == "ec2" else "AccessDeniedException"
            raise AwsError(code, "You are not authorized to perform this operation.")
