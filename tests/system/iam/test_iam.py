"""The policies of docs/iam allow what the bot does, need every action, and allow nothing else."""

import copy
import json
from dataclasses import dataclass
from pathlib import Path

import botocore.session
import pytest

from bot.aws import AwsEventQueue
from bot.domain.errors import MarketError, RefusedError
from bot.domain.market import Kind
from sandbox.aws import permissions
from sandbox.aws.permissions import Need, allowed
from tests.system.iam.journeys import (
    PURPOSES,
    REGION,
    RESEARCH,
    SERVING,
    everything,
    role,
    town,
)

pytestmark = pytest.mark.system

FOLDER = Path(__file__).parents[3] / "docs" / "iam"
POLICIES = {name: json.loads((FOLDER / f"{name}.json").read_text()) for name in PURPOSES}
LOOKS = ("Describe", "Get", "List", "Search")
TAGGED = {
    "aws:RequestTag/gpubot:purchase": ["gpubot-x"],
    "aws:ResourceTag/gpubot:purchase": ["gpubot-x"],
    "aws:TagKeys": ["gpubot:owner"],
}


@dataclass(frozen=True)
class Asked:
    """One right that a journey needed, and of which role."""

    purpose: str
    need: Need


@pytest.fixture(scope="module")
def asked() -> list[Asked]:
    """Everything that was checked while every journey was played under the policies."""
    found: list[Asked] = []

    def noted(documents, need):
        documents = list(documents)
        purpose = next(name for name in PURPOSES if POLICIES[name] == documents[0])
        found.append(Asked(purpose, need))
        return allowed(documents, need)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(permissions, "allowed", noted)
        with town(patch, POLICIES, accounts=(RESEARCH, SERVING)) as played:
            everything(played)
            denied = [
                row["operation"]
                for row in played.aws.calls()
                if row["outcome"] in ("UnauthorizedOperation", "AccessDeniedException")
            ]
    assert denied == []
    return found


def actions(document) -> list[tuple[int, str]]:
    return [
        (number, action)
        for number, statement in enumerate(document["Statement"])
        for action in permissions._many(statement["Action"])  # noqa: SLF001 - one word or a list
    ]


def without(document, number: int, action: str):
    """The policy with one action of one statement taken away."""
    left = copy.deepcopy(document)
    statement = left["Statement"][number]
    statement["Action"] = [one for one in permissions._many(statement["Action"]) if one != action]  # noqa: SLF001 - as above
    return left


def test_every_call_of_the_bot_is_allowed(asked):
    assert len(asked) > 100
    assert all(allowed([POLICIES[one.purpose]], one.need) for one in asked)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_without_any_one_action_a_journey_fails(asked, purpose):
    needs = [one.need for one in asked if one.purpose == purpose]
    idle = [
        (number, action)
        for number, action in actions(POLICIES[purpose])
        if all(allowed([without(POLICIES[purpose], number, action)], need) for need in needs)
    ]
    assert idle == []


def test_no_policy_names_actions_by_a_pattern():
    assert [a for d in POLICIES.values() for _, a in actions(d) if "*" in a] == []


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("service", ["ec2", "sagemaker", "ram"])
def test_nothing_else_that_changes_or_spends_is_allowed(asked, purpose, service):
    """Every operation that botocore knows, on any resource, with every tag one could want."""
    model = botocore.session.Session().get_service_model(service)
    used = {one.need.action for one in asked if one.purpose == purpose}
    resources = [
        "*",
        *(
            f"arn:aws:{service}:{REGION}:111122223333:{part}/x"
            for part in (
                "capacity-reservation",
                "instance",
                "training-plan",
                "endpoint",
                "volume",
                "resource-share",
            )
        ),
    ]
    more = {
        name
        for name in model.operation_names
        if f"{service}:{name}" not in used
        and any(
            allowed([POLICIES[purpose]], Need(f"{service}:{name}", one, TAGGED))
            for one in resources
        )
    }
    assert more == set()
    if purpose == "read":
        assert all(action.partition(":")[2].startswith(LOOKS) for action in used)


@pytest.mark.parametrize(
    ("purpose", "action", "part"),
    [
        ("buy", "ec2:PurchaseCapacityBlock", "capacity-reservation"),
        ("buy", "ec2:CreateCapacityReservation", "capacity-reservation"),
        ("buy", "ec2:PurchaseCapacityBlockExtension", "capacity-reservation"),
        ("launch", "ec2:RunInstances", "instance"),
        ("launch", "ec2:TerminateInstances", "instance"),
        ("launch", "ec2:DeleteVolume", "volume"),
        ("launch", "ram:DeleteResourceShare", "resource-share"),
        ("buy", "ram:AssociateResourceShare", "resource-share"),
    ],
)
def test_without_our_tag_nothing_is_bought_launched_or_ended(purpose, action, part):
    arn = f"arn:aws:{action.partition(':')[0]}:{REGION}:111122223333:{part}/x"
    assert allowed([POLICIES[purpose]], Need(action, arn, TAGGED))
    assert not allowed([POLICIES[purpose]], Need(action, arn, {}))


SHARED = TAGGED | {
    "ram:RequestedResourceType": ["ec2:CapacityReservation"],
    "ram:RequestedAllowsExternalPrincipals": ["false"],
}


@pytest.mark.parametrize(
    "change",
    [
        {"ram:RequestedAllowsExternalPrincipals": ["true"]},
        {"ram:RequestedResourceType": ["ec2:Subnet"]},
        {"aws:RequestTag/gpubot:purchase": []},
    ],
)
def test_nothing_but_our_reservations_is_shared_and_nothing_outside_the_organization(change):
    def may(context):
        return allowed([POLICIES["buy"]], Need("ram:CreateResourceShare", "*", context))

    assert may(SHARED)
    assert not may(SHARED | change)


@pytest.mark.parametrize("key", ["gpubot:purchase", "Name"])
def test_a_tag_that_proves_a_purchase_is_never_rewritten(key):
    arn = f"arn:aws:ec2:{REGION}:111122223333:capacity-reservation/cr-1"
    need = Need("ec2:CreateTags", arn, TAGGED | {"aws:TagKeys": [key]})
    assert not any(allowed([POLICIES[purpose]], need) for purpose in PURPOSES)


def test_the_simulated_aws_refuses_what_a_policy_lacks(monkeypatch):
    """The same by the wire: with one right less, a purchase is plainly refused."""
    number = next(
        number for number, action in actions(POLICIES["buy"]) if action.endswith("CapacityBlock")
    )
    fewer = POLICIES | {"buy": without(POLICIES["buy"], number, "ec2:PurchaseCapacityBlock")}
    with town(monkeypatch, fewer) as played:
        purchase = played._purchase(Kind.CAPACITY_BLOCK, RESEARCH)  # noqa: SLF001 - a journey's part
        assert any("may not call" in text for text in played.buyer.rehearse(purchase.leg))
        with pytest.raises(RefusedError) as refused:
            played.buyer.buy(purchase)
        assert refused.value.code == "UnauthorizedOperation"
        assert played.aws.sold() == []


def test_each_account_is_read_bought_for_and_launched_in_by_its_own_roles(monkeypatch):
    with town(monkeypatch, POLICIES, accounts=(RESEARCH, SERVING)) as played:
        for account in (RESEARCH, SERVING):
            played.buy(Kind.CAPACITY_BLOCK, account)
            played.buy(Kind.ON_DEMAND, account)
        by_role = {}
        for row in played.aws.calls():
            if "role" in row:
                by_role.setdefault((row["account"], row["role"]), set()).add(row["operation"])
    for account in (RESEARCH, SERVING):
        number = account.account_id
        assert by_role[number, role(number, "buy")] == {"PurchaseCapacityBlock"}
        assert by_role[number, role(number, "launch")] == {"RunInstances"}
        reads = by_role[number, role(number, "read")]
        assert all(name.startswith(LOOKS) for name in reads)
    assert {number for number, _ in by_role} == {RESEARCH.account_id, SERVING.account_id}
    assert sorted(row["account"] for row in played.aws.sold()) == sorted(
        [RESEARCH.account_id, SERVING.account_id] * 2
    )


def test_a_queue_of_events_is_read_and_emptied_with_its_own_policy_and_no_other(monkeypatch):
    extra = json.loads((FOLDER / "events.json").read_text())
    url = f"https://sqs.{REGION}.amazonaws.com/{RESEARCH.account_id}/gpubot-events"
    monkeypatch.setattr("bot.aws.events._WAIT_SECONDS", 0)
    for documents, heard in (([extra], True), ([without(extra, 0, "sqs:DeleteMessage")], False)):
        more = [{"role": role(RESEARCH.account_id, "read"), "document": one} for one in documents]
        with town(monkeypatch, POLICIES, more=more) as played:
            played.aws.event({"event": "spot-rebalance", "instance": played.spot()})
            place = {"account": "research", "region": REGION, "clients": played.clients}
            queue = AwsEventQueue(url, **place)
            (event, *_) = queue.receive()
            if heard:
                queue.delete(event)
                continue
            with pytest.raises(MarketError, match="refused"):
                queue.delete(event)
    with town(monkeypatch, POLICIES) as played:
        queue = AwsEventQueue(url, account="research", region=REGION, clients=played.clients)
        with pytest.raises(MarketError, match="refused"):
            queue.receive()
