"""Policies are evaluated as IAM does: deny wins, conditions must hold, unknown words are loud."""

import pytest

from sandbox.aws.permissions import Need, allowed


def policy(*statements):
    return {"Version": "2012-10-17", "Statement": list(statements)}


def allow(action="ec2:RunInstances", resource="*", effect="Allow", **condition):
    statement = {"Effect": effect, "Action": action, "Resource": resource}
    return {**statement, "Condition": condition} if condition else statement


def test_only_what_is_allowed_is_allowed():
    assert allowed([policy(allow())], Need("ec2:RunInstances"))
    assert not allowed([policy(allow())], Need("ec2:TerminateInstances"))
    assert not allowed([policy()], Need("ec2:RunInstances"))


def test_a_denial_wins_over_any_allowance():
    document = policy(allow("ec2:*"), allow(effect="Deny"))
    assert allowed([document], Need("ec2:StopInstances"))
    assert not allowed([document], Need("ec2:RunInstances"))


def test_a_resource_must_match():
    document = policy(allow(resource="arn:aws:ec2:*:*:instance/*"))
    assert allowed([document], Need("ec2:RunInstances", "arn:aws:ec2:us-east-1:1:instance/*"))
    assert not allowed([document], Need("ec2:RunInstances", "arn:aws:ec2:us-east-1:1:volume/*"))
    assert not allowed([document], Need("ec2:RunInstances"))


@pytest.mark.parametrize(
    ("operator", "wanted", "values", "holds"),
    [
        ("StringEquals", "a", ["a"], True),
        ("StringEquals", ["a", "b"], ["b"], True),
        ("StringEquals", "a", None, False),
        ("StringLike", "?*", ["a"], True),
        ("StringLike", "?*", [""], False),
        ("ForAllValues:StringEquals", ["a", "b"], ["a", "b"], True),
        ("ForAllValues:StringEquals", ["a"], ["a", "b"], False),
        ("ForAnyValue:StringEquals", ["a"], ["a", "b"], True),
    ],
)
def test_conditions_hold_as_iam_says(operator, wanted, values, holds):
    document = policy(allow(**{operator: {"key": wanted}}))
    context = {} if values is None else {"key": values}
    assert allowed([document], Need("ec2:RunInstances", "*", context)) is holds


@pytest.mark.parametrize(
    "statement",
    [allow(NumericEquals={"key": "1"}), {**allow(), "Principal": "*"}],
)
def test_what_is_not_evaluated_is_a_loud_fault(statement):
    with pytest.raises(ValueError, match="does not evaluate"):
        allowed([policy(statement)], Need("ec2:RunInstances"))
