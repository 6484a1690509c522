"""Everything that the bot asks of AWS, once: looks, purchases of each kind, use and clean-up."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import boto3
import pytest
from moto.ec2.models import ec2_backends

from bot.aws import (
    AwsBuyer,
    AwsEndpoints,
    AwsHoldings,
    AwsInventory,
    AwsLeftovers,
    AwsMachines,
    AwsMarket,
    AwsSharer,
    AwsTagger,
    AwsUtilisation,
    Clients,
    check_identity,
)
from bot.catalog import packaged
from bot.domain.errors import RefusedError
from bot.domain.market import Kind, Segment
from bot.domain.records import LegPurpose, Purchase, Receipt
from bot.domain.request import Request, Target
from bot.domain.sharing import ShareOrder
from bot.domain.using import EndpointOrder, Leftover, LeftoverKind
from bot.policy.configuration import Account
from sandbox.aws import SimulatedAws, Supply, quotas
from tests.fakes.clock import NOW, FakeClock
from tests.unit.aws.canned import leg_of, purchase_of

REGION = "us-east-1"
PURPOSES = ("read", "buy", "launch")
POOL = {"region": REGION, "instance_type": "p5.48xlarge", "instance_count": 16}


def role(account: str, purpose: str) -> str:
    return f"arn:aws:iam::{account}:role/gpubot-{purpose}"


def account_of(name: str, number: str, **more: tuple[str, ...]) -> Account:
    return Account(
        name=name,
        account_id=number,
        regions=(REGION,),
        launch_templates={REGION: "lt-0a11ce0000000001"},
        read_role=role(number, "read"),
        buy_role=role(number, "buy"),
        launch_role=role(number, "launch"),
        **more,
    )


RESEARCH = account_of("research", "111122223333", shares_with=("serving",))
SERVING = account_of("serving", "444455556666")


@dataclass
class Town:
    aws: SimulatedAws
    clock: FakeClock
    accounts: tuple[Account, ...]

    def __post_init__(self) -> None:
        self.clients = Clients(self.accounts)
        how = {"clock": self.clock, "clients": self.clients}
        self.market = AwsMarket(self.accounts, catalog=packaged(), refusals=dict, **how)
        self.buyer = AwsBuyer(self.accounts, **how)
        self.holdings = AwsHoldings(self.accounts, **how)

    def pass_by(self, **length: float) -> None:
        self.clock.advance(timedelta(**length))
        self.aws.settle()

    # --- journeys --------------------------------------------------------------------------

    def doctor(self) -> None:
        rows = check_identity(self.accounts, clock=self.clock, clients=self.clients)
        assert [row for row in rows if row.result == "refused"] == []
        assert AwsInventory(self.accounts, clients=self.clients).read().not_read == ()

    def look(self) -> None:
        for target in (None, Target.TRAINING_JOB):
            seen = self.market.read(_wanted(target=target))
            assert seen.not_read == (), seen.not_read
        seen = self.market.read(_wanted(instance_type="g5.48xlarge", interruptible=True))
        assert seen.not_read == (), seen.not_read

    def look_where_no_quota_was_touched(self) -> None:
        """Look while AWS knows only the defaults of its quotas, as in a new account."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(quotas, "applied", lambda *_: None)
            how = {"clock": self.clock, "clients": self.clients}
            market = AwsMarket(self.accounts, catalog=packaged(), refusals=dict, **how)
            for target in (None, Target.TRAINING_JOB):
                gaps = market.read(_wanted(target=target)).not_read
                assert [gap for gap in gaps if gap.why == "refused"] == []

    def buy(self, kind: Kind, account: Account = RESEARCH) -> tuple[Purchase, Receipt]:
        """Rehearse, buy, find again, look at it."""
        purchase = self._purchase(kind, account)
        assert self.buyer.rehearse(purchase.leg) == []
        (receipt,) = self.buyer.buy(purchase)
        self.pass_by(hours=1)
        assert [one.id for one in self.buyer.find(purchase)] == [receipt.id]
        assert self.holdings.look([receipt])[receipt.id].last_error == ""
        return purchase, receipt

    def extend(self, kind: Kind, purchase: Purchase, receipt: Receipt) -> None:
        end = receipt.segments[-1].end
        more = purchase.leg.model_copy(
            update={
                "purpose": LegPurpose.EXTENSION,
                "extends": receipt.id,
                "segments": (Segment(start=end, end=end + timedelta(days=1)),),
            }
        )
        offer = next(iter(self.market.requote(more)))
        leg = more.model_copy(update={"ref": offer.ref, "fee": offer.upfront_fee})
        bought = purchase.model_copy(
            update={"id": f"{purchase.id}-more", "leg": leg, "offering_ref": offer.ref}
        )
        assert self.buyer.rehearse(leg) == []
        (extension,) = self.buyer.buy(bought)
        assert self.buyer.find(bought)
        assert self.holdings.look([extension])[extension.id].last_error == ""

    def hand_over(self, *receipts: Receipt) -> None:
        for receipt in receipts:
            AwsTagger(self.clients).tag(receipt, owner="U0LIN", team="vision")

    def share(self, receipt: Receipt) -> None:
        """Share it, look at it until it stands, complete it when half of it is lost, end it."""
        sharer = AwsSharer(self.clients)
        order = ShareOrder(
            capacity_id=receipt.id,
            account=receipt.account,
            region=REGION,
            consumer=SERVING.name,
            purchase_id=receipt.purchase_id,
            reservation_id=receipt.reservation_id,
            owner="U0ANA",
            team="vision",
        )
        made = sharer.share(order)
        self.pass_by(minutes=1)
        assert sharer.share(order).zone is not None
        with self._person("ram") as person:
            person.disassociate_resource_share(
                resourceShareArn=made.id, principals=[SERVING.account_id]
            )
        assert not sharer.share(order).stands
        self.pass_by(minutes=1)
        assert sharer.share(order).stands
        sharer.unshare(order)

    def use(self, *receipts: Receipt) -> None:
        machines = AwsMachines(self.accounts, clients=self.clients)
        for receipt in receipts:
            assert machines.health(receipt).not_read == ()

    def measure(self, launch: Receipt) -> None:
        """Read how busy its GPUs are, once an agent tells."""
        self.aws.event({"event": "gpu-utilisation", "reservation": launch.id, "percent": 7})
        self.pass_by(minutes=40)
        port = AwsUtilisation(self.accounts, clock=self.clock, clients=self.clients)
        seen = port.read([launch], window=timedelta(minutes=30))[launch.id]
        assert (seen.not_read, seen.reporting) == ("", seen.machines)

    def spot(self) -> str:
        """Buy one spot machine and return its id."""
        _, receipt = self.buy(Kind.SPOT)
        client = self.clients.reading("ec2", "research", REGION)
        filters = [{"Name": "reservation-id", "Values": [receipt.id]}]
        found = client.describe_instances(Filters=filters)
        return str(found["Reservations"][0]["Instances"][0]["InstanceId"])

    def clean_up(self, *receipts: Receipt) -> None:
        leftovers = AwsLeftovers(self.accounts, clock=self.clock, clients=self.clients)
        found = leftovers.find(receipts)
        assert found.not_read == (), found.not_read
        for item in found.items:
            if not item.prepaid:
                leftovers.remove(item)
        for kind, name in (
            (LeftoverKind.VOLUME, _volume(receipts[0].purchase_id)),
            (LeftoverKind.FLEET, _tagged("fleet-1", receipts[0].purchase_id)),
            (LeftoverKind.SPOT_REQUEST, _tagged("sir-1", receipts[0].purchase_id)),
        ):
            self._remove(leftovers, kind, name)

    def serve(self, purchase: Purchase, receipt: Receipt) -> None:
        endpoints = AwsEndpoints(self.accounts, clients=self.clients)
        order = EndpointOrder(
            name="gpu-42-llama",
            account=receipt.account,
            region=REGION,
            plan_arn=receipt.id,
            instance_type=receipt.instance_type,
            count=1,
            model="llama",
            reservation_id=42,
            purchase_id=purchase.id,
            owner="U0ANA",
        )
        self._model("llama")
        self.pass_by(days=max(0, (receipt.segments[0].start - self.clock.now()).days + 1))
        assert endpoints.plan(receipt) is not None
        assert not endpoints.configured(order)
        endpoints.configure(order)
        endpoints.create(order)
        assert endpoints.look(order) is not None
        self.pass_by(hours=1)
        found = AwsLeftovers(self.accounts, clock=self.clock, clients=self.clients).find([receipt])
        assert found.not_read == ()
        endpoints.delete(order)
        endpoints.unconfigure(order)

    def _model(self, name: str) -> None:
        """Have a person of the account make a model, with rights of their own."""
        with self._person("sagemaker") as person:
            person.create_model(
                ModelName=name,
                PrimaryContainer={"Image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/llama:1"},
                ExecutionRoleArn=role(RESEARCH.account_id, "model"),
            )

    @contextmanager
    def _person(self, service: str) -> Iterator[Any]:
        """Give a client with the rights of a person of the account."""
        sts = boto3.client("sts", region_name=REGION)
        who = {"RoleArn": role(RESEARCH.account_id, "person"), "RoleSessionName": "ana"}
        key = sts.assume_role(**who)["Credentials"]
        person = boto3.client(
            service,
            region_name=REGION,
            aws_access_key_id=key["AccessKeyId"],
            aws_secret_access_key=key["SecretAccessKey"],
            aws_session_token=key["SessionToken"],
        )
        try:
            yield person
        finally:
            sts.close()
            person.close()

    # --- parts -----------------------------------------------------------------------------

    def _purchase(self, kind: Kind, account: Account) -> Purchase:
        target = Target.ENDPOINT if kind is Kind.TRAINING_PLAN else None
        platform = {"account": account.name}
        if kind in (Kind.CAPACITY_BLOCK, Kind.TRAINING_PLAN):
            seen = self.market.read(_wanted(target=target))
            row = next(
                one
                for one in seen.offerings
                if one.kind is kind
                and one.account == account.name
                and one.opted_in
                and len(one.segments) == 1
            )
            leg = leg_of(
                kind,
                ref=row.ref,
                zone=row.zone,
                segments=row.segments,
                fee=row.upfront_fee,
                instance_type=row.instance_type,
                instance_count=row.instance_count,
                target=str(target) if target else None,
                **platform,
            )
        else:
            now = self.clock.now()
            segments = (Segment(start=now, end=now + timedelta(days=1)),)
            leg = leg_of(
                kind,
                ref=f"{kind}:{REGION}",
                zone=None,
                segments=segments,
                instance_count=1,
                fee=Decimal(1000),
                **platform,
            )
        return purchase_of(leg=leg).model_copy(
            update={"id": f"gpubot-test-{account.name}-{kind.value.replace('_', '-')}"}
        )

    def _remove(self, leftovers: AwsLeftovers, kind: LeftoverKind, name: str) -> None:
        item = Leftover(
            kind=kind, id=name, account="research", region=REGION, state="there", purchase=None
        )
        # moto offers some of these not at all: being let in is enough here.
        with suppress(RefusedError):
            leftovers.remove(item)


def _wanted(**update) -> Request:
    base = Request(instance_type="p5.48xlarge", instance_count=1, duration_hours=Decimal(72))
    return base.model_copy(update=update)


def _tagged(name: str, purchase_id: str) -> str:
    ec2_backends[RESEARCH.account_id][REGION].tags[name]["gpubot:purchase"] = purchase_id
    return name


def _volume(purchase_id: str) -> str:
    backend = ec2_backends[RESEARCH.account_id][REGION]
    volume = backend.create_volume(size=1, zone_name=f"{REGION}a")
    return _tagged(volume.id, purchase_id)


@contextmanager
def town(monkeypatch, policies, *, accounts=(RESEARCH,), seed=7, more=()) -> Iterator[Town]:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "A" * 20,
        "AWS_SECRET_ACCESS_KEY": "s",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nonexistent",
    }.items():
        monkeypatch.setenv(name, value)
    clock = FakeClock(NOW)
    supply = Supply.from_dict(
        {
            "payment_seconds": [1, 2],
            "on_demand": [POOL],
            "spot_pools": [POOL],
            "policies": [
                {"role": role(account.account_id, purpose), "document": policies[purpose]}
                for account in accounts
                for purpose in PURPOSES
            ]
            + list(more),
            "event_queues": [{"account": RESEARCH.account_id, "region": REGION}],
        }
    )
    aws = SimulatedAws(now=clock.now, seed=seed, supply=supply)
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws.start())
    try:
        yield Town(aws, clock, accounts)
    finally:
        aws.stop()
    assert aws.failures == []


def everything(town: Town) -> None:
    """Play every journey of one account, and share what it holds with the other."""
    town.doctor()
    town.look()
    town.look_where_no_quota_was_touched()
    block, held = town.buy(Kind.CAPACITY_BLOCK)
    plan, arn = town.buy(Kind.TRAINING_PLAN)
    _, odcr = town.buy(Kind.ODCR)
    _, launch = town.buy(Kind.ON_DEMAND)
    _, spot = town.buy(Kind.SPOT)
    town.hand_over(held, arn, odcr, launch)
    town.use(held, arn, odcr, launch, spot)
    town.share(held)
    town.measure(launch)
    town.extend(Kind.CAPACITY_BLOCK, block, held)
    town.extend(Kind.TRAINING_PLAN, plan, arn)
    town.serve(plan, arn)
    town.clean_up(launch, spot, odcr)
