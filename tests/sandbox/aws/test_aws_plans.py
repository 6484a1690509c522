"""Training plans and the endpoints that run on them."""

from datetime import UTC, datetime, timedelta

import pytest

ONE_ZONE = {"open_percent": 100}


@pytest.fixture
def plans(sandbox_with):
    return sandbox_with(**ONE_ZONE)


def offers(sandbox, **params):
    asked = {
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 2,
        "DurationHours": 72,
        "TargetResources": ["endpoint"],
    }
    return sandbox.sagemaker.search_training_plan_offerings(**{**asked, **params})[
        "TrainingPlanOfferings"
    ]


def length(offer):
    return timedelta(hours=offer["DurationHours"], minutes=offer["DurationMinutes"])


def create(sandbox, offer=None, name="gpubot-leg-1"):
    offer = offer or next(
        one
        for one in offers(sandbox)
        if len(one["ReservedCapacityOfferings"]) == 1 and length(one) == timedelta(hours=72)
    )
    return sandbox.sagemaker.create_training_plan(
        TrainingPlanName=name,
        TrainingPlanOfferingId=offer["TrainingPlanOfferingId"],
        Tags=[{"Key": "gpubot:purchase", "Value": "leg-1"}],
    )["TrainingPlanArn"]


def described(sandbox, name="gpubot-leg-1"):
    return sandbox.sagemaker.describe_training_plan(TrainingPlanName=name)


def start_of(sandbox):
    return described(sandbox)["StartTime"].astimezone(UTC)


def activate(sandbox):
    sandbox.time = start_of(sandbox) + timedelta(minutes=5)
    assert described(sandbox)["Status"] == "Active"


def test_at_most_three_offers_of_one_or_two_parts_end_at_half_past_eleven(plans):
    found = offers(plans)
    assert len(found) == 3
    assert sorted(len(one["ReservedCapacityOfferings"]) for one in found) == [1, 1, 2]
    for offer in found:
        assert offer["TargetResources"] == ["endpoint"]
        for part in offer["ReservedCapacityOfferings"]:
            assert part["EndTime"].astimezone(UTC).strftime("%H:%M") == "11:30"
    whole = found[1]
    assert length(whole) == timedelta(hours=72)
    assert whole["UpfrontFee"] == "7909.06"  # 54.924 an instance-hour


def test_hours_are_rounded_up_to_days(plans):
    assert any(length(one) == timedelta(hours=48) for one in offers(plans, DurationHours=25))


@pytest.mark.parametrize(
    "params",
    [
        {"InstanceCount": 3},
        {"InstanceType": "ml.g5.48xlarge"},
        {"InstanceType": "ml.g6.4xlarge"},
        {"TargetResources": ["endpoint", "training-job"]},
        {"TargetResources": ["notebook"]},
        {"DurationHours": 4369},
        {"StartTimeAfter": datetime(2027, 3, 1, tzinfo=UTC)},
    ],
)
def test_a_wrong_search_is_refused(plans, refused, params):
    assert refused(lambda: offers(plans, **params)) == "ValidationException"


def test_a_reserved_capacity_quota_too_small_fails_the_search_itself(sandbox_with, refused):
    quota = {"service": "sagemaker", "quota": "L-9EF527CA", "value": 1}
    sandbox = sandbox_with(quotas=[quota])
    assert refused(lambda: offers(sandbox)) == "ResourceLimitExceeded"
    offers(sandbox, InstanceCount=1)


def test_a_plan_is_pending_until_it_is_paid_and_starts_late(plans):
    arn = create(plans)
    plan = described(plans)
    assert (plan["Status"], plan["TrainingPlanArn"]) == ("Pending", arn)
    plans.advance(minutes=25)
    assert described(plans)["Status"] == "Scheduled"
    plans.time = start_of(plans)
    assert described(plans)["Status"] == "Scheduled"
    plans.advance(minutes=4)
    plan = described(plans)
    assert (plan["Status"], plan["AvailableInstanceCount"]) == ("Active", 2)
    plans.time = plan["EndTime"].astimezone(UTC)
    assert described(plans)["Status"] == "Expired"


def test_a_plan_of_two_parts_goes_back_to_scheduled_in_between(plans):
    create(plans, offers(plans)[-1])
    states = []
    while (moment := plans.aws.next_event()) is not None:
        plans.time = moment
        states.append(described(plans)["Status"])
    assert [one for index, one in enumerate(states) if index == 0 or states[index - 1] != one] == [
        "Scheduled",
        "Active",
        "Scheduled",
        "Active",
        "Expired",
    ]


def test_a_name_is_used_once(plans, refused):
    create(plans)
    assert refused(lambda: create(plans, offers(plans)[0])) == "ResourceInUse"
    assert len(plans.aws.sold()) == 1


def test_a_stale_or_unknown_offering_is_not_found(plans, refused):
    offer = offers(plans)[0]
    create(plans, offer)
    assert refused(lambda: create(plans, offer, "other")) == "ResourceNotFound"
    unknown = {"TrainingPlanOfferingId": "tpo-1"}
    assert refused(lambda: create(plans, unknown, "other")) == "ResourceNotFound"
    assert refused(lambda: create(plans, offer, "a_b")) == "ValidationException"


def test_a_plan_beyond_the_number_of_plans_is_refused(sandbox_with, refused):
    quota = {"service": "sagemaker", "quota": "L-867702E6", "value": 0}
    sandbox = sandbox_with(quotas=[quota])
    assert refused(lambda: create(sandbox)) == "ResourceLimitExceeded"


def test_a_failed_payment_fails_the_plan(plans):
    create(plans)
    plans.aws.event({"event": "payment-failed", "reservation": "gpubot-leg-1"})
    plan = described(plans)
    assert plan["Status"] == "Failed"
    assert "payment" in plan["StatusMessage"]


def test_a_lost_answer_is_settled_by_name_and_tag(plans):
    offer = offers(plans)[0]
    plans.aws.add_fault({"operation": "CreateTrainingPlan", "fault": "lost-answer"})
    with pytest.raises(Exception, match="Connection was closed"):
        create(plans, offer)
    arn = described(plans)["TrainingPlanArn"]
    tags = plans.sagemaker.list_tags(ResourceArn=arn)["Tags"]
    assert tags == [{"Key": "gpubot:purchase", "Value": "leg-1"}]
    sold = plans.aws.sold()[0]
    assert (sold["id"], sold["kind"], sold["fee"]) == (arn, "training_plan", offer["UpfrontFee"])


def test_plans_are_listed_by_status_in_pages(plans):
    create(plans, offers(plans)[0], "one")
    create(plans, offers(plans)[1], "two")
    plans.aws.event({"event": "payment-failed", "reservation": "two"})
    listed = plans.sagemaker.list_training_plans(MaxResults=1, SortBy="TrainingPlanName")
    assert [one["TrainingPlanName"] for one in listed["TrainingPlanSummaries"]] == ["one"]
    rest = plans.sagemaker.list_training_plans(
        MaxResults=1, SortBy="TrainingPlanName", NextToken=listed["NextToken"]
    )
    assert [one["TrainingPlanName"] for one in rest["TrainingPlanSummaries"]] == ["two"]
    failed = plans.sagemaker.list_training_plans(Filters=[{"Name": "Status", "Value": "Failed"}])
    assert [one["TrainingPlanName"] for one in failed["TrainingPlanSummaries"]] == ["two"]


def test_a_part_of_a_plan_can_be_read_alone(plans, refused):
    create(plans)
    activate(plans)
    part = described(plans)["ReservedCapacitySummaries"][0]["ReservedCapacityArn"]
    found = plans.sagemaker.describe_reserved_capacity(ReservedCapacityArn=part)
    assert (found["Status"], found["AvailableInstanceCount"]) == ("Active", 2)
    unknown = part[:-3] + "xyz"
    describe = plans.sagemaker.describe_reserved_capacity
    assert refused(describe, ReservedCapacityArn=unknown) == "ResourceNotFound"


def test_an_unknown_plan_is_not_found(plans, refused):
    assert refused(lambda: described(plans, "nobody")) == "ResourceNotFound"


def test_a_paid_extension_moves_the_end_of_the_plan(plans, refused):
    arn = create(plans)
    activate(plans)
    end = described(plans)["EndTime"]
    found = plans.sagemaker.search_training_plan_offerings(TrainingPlanArn=arn, DurationHours=24)
    assert found["TrainingPlanOfferings"] == []
    offer = found["TrainingPlanExtensionOfferings"][0]
    assert offer["StartDate"] == end
    extended = plans.sagemaker.extend_training_plan(
        TrainingPlanExtensionOfferingId=offer["TrainingPlanExtensionOfferingId"]
    )["TrainingPlanExtensions"]
    assert [(one["Status"], one["PaymentStatus"]) for one in extended] == [("Pending", "Pending")]
    again = {"TrainingPlanExtensionOfferingId": offer["TrainingPlanExtensionOfferingId"]}
    assert refused(plans.sagemaker.extend_training_plan, **again) == "ResourceNotFound"
    plans.advance(minutes=30)
    assert described(plans)["EndTime"] == end + timedelta(days=1)
    history = plans.sagemaker.describe_training_plan_extension_history(TrainingPlanArn=arn)
    assert history["TrainingPlanExtensions"][0]["PaymentStatus"] == "Completed"
    plans.time = end.astimezone(UTC)
    assert described(plans)["Status"] == "Active"
    plans.advance(days=1)
    assert described(plans)["Status"] == "Expired"


def model(sandbox):
    sandbox.sagemaker.create_model(
        ModelName="llama",
        ExecutionRoleArn="arn:aws:iam::123456789012:role/sagemaker",
        PrimaryContainer={"Image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/llama:1"},
    )


def config(sandbox, arn=None, name="llama-1", **variant):
    reservation = {
        "CapacityReservationConfig": {
            "CapacityReservationPreference": "capacity-reservations-only",
            "MlReservationArn": arn,
        }
    }
    return sandbox.sagemaker.create_endpoint_config(
        EndpointConfigName=name,
        ProductionVariants=[
            {
                "VariantName": "all",
                "ModelName": "llama",
                "InstanceType": "ml.p5.48xlarge",
                "InitialInstanceCount": 1,
                **(reservation if arn else {}),
                **variant,
            }
        ],
    )


def endpoint(sandbox, name="chat", config_name="llama-1"):
    return sandbox.sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=config_name)


def test_an_endpoint_runs_on_an_active_plan_and_goes(plans, refused):
    arn = create(plans)
    model(plans)
    plans.advance(minutes=30)
    assert refused(lambda: config(plans, arn)) == "ValidationException"
    activate(plans)
    assert refused(lambda: config(plans, arn, InitialInstanceCount=3)) == "ValidationException"
    assert refused(lambda: config(plans, arn, InstanceType="ml.p4d.24xlarge")) == (
        "ValidationException"
    )
    config(plans, arn)
    assert refused(lambda: config(plans, arn)) == "ValidationException"
    endpoint(plans)
    assert refused(lambda: endpoint(plans)) == "ValidationException"
    describe = plans.sagemaker.describe_endpoint
    assert describe(EndpointName="chat")["EndpointStatus"] == "Creating"
    plans.advance(minutes=6)
    found = describe(EndpointName="chat")
    assert found["EndpointStatus"] == "InService"
    held = found["ProductionVariants"][0]["CapacityReservationConfig"]
    assert (held["TotalInstanceCount"], held["UsedByCurrentEndpoint"]) == (2, 1)
    assert described(plans)["InUseInstanceCount"] == 1
    plans.sagemaker.delete_endpoint(EndpointName="chat")
    assert describe(EndpointName="chat")["EndpointStatus"] == "Deleting"
    plans.advance(minutes=2)
    assert refused(describe, EndpointName="chat") == "ValidationException"
    plans.sagemaker.delete_endpoint_config(EndpointConfigName="llama-1")
    plans.sagemaker.delete_model(ModelName="llama")
    assert plans.sagemaker.list_endpoints()["Endpoints"] == []


def test_a_plan_for_training_takes_no_endpoint(plans, refused):
    found = offers(plans, TargetResources=["training-job"])[1]
    arn = create(plans, found)
    model(plans)
    activate(plans)
    assert refused(lambda: config(plans, arn)) == "ValidationException"


def test_an_endpoint_without_room_fails_with_a_reason(plans):
    arn = create(plans)
    model(plans)
    activate(plans)
    config(plans, arn, InitialInstanceCount=2)
    endpoint(plans)
    endpoint(plans, "second")
    plans.advance(minutes=6)
    second = plans.sagemaker.describe_endpoint(EndpointName="second")
    assert second["EndpointStatus"] == "Failed"
    assert "InsufficientInstanceCapacity" in second["FailureReason"]


def test_an_endpoint_beyond_its_quota_is_refused(sandbox_with, refused):
    name = "ml.g5.48xlarge for endpoint usage"
    sandbox = sandbox_with(quotas=[{"service": "sagemaker", "quota": name, "value": 0}])
    model(sandbox)
    config(sandbox, InstanceType="ml.g5.48xlarge")
    assert refused(lambda: endpoint(sandbox)) == "ResourceLimitExceeded"


def test_an_on_demand_endpoint_comes_up(plans):
    model(plans)
    config(plans, InstanceType="ml.g5.48xlarge")
    endpoint(plans)
    plans.advance(minutes=6)
    listed = plans.sagemaker.list_endpoints(StatusEquals="InService")["Endpoints"]
    assert [one["EndpointName"] for one in listed] == ["chat"]
    assert plans.aws.sold()[0]["kind"] == "endpoint"


def test_a_missing_configuration_or_model_is_told(plans, refused):
    assert refused(lambda: endpoint(plans)) == "ValidationException"
    assert refused(lambda: config(plans)) == "ValidationException"
