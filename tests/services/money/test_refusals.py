"""What a refusal means for people agrees with what the AWS room calls a refusal."""

from bot.aws import errors
from bot.services.commitments.refusals import (
    CAPACITY_CODES,
    PERMISSION_CODES,
    QUOTA_CODES,
    Refusal,
    sort_of,
)


def test_every_code_about_permission_blocks_until_an_administrator_acts():
    assert {code for code in errors.AUTH if sort_of(code) is not Refusal.PERMISSION} == set()


def test_every_code_about_a_limit_is_a_quota_or_a_lack_of_room():
    sorts = {sort_of(code) for code in errors.QUOTA}
    assert sorts == {Refusal.QUOTA, Refusal.CAPACITY}


def test_a_lack_of_capacity_is_always_a_plain_refusal_never_doubt():
    """What leads to another region must mean that nothing was launched in this one."""
    unknown = CAPACITY_CODES - errors.NOTHING_BOUGHT
    assert unknown <= {
        "InsufficientCapacity",
        "InsufficientHostCapacity",
        "InsufficientCapacityException",
    }
    assert not (CAPACITY_CODES & (QUOTA_CODES | PERMISSION_CODES))
