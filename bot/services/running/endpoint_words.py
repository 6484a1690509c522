"""What is said about an endpoint. Text only."""

from datetime import datetime

from bot.domain.records import gpu_id
from bot.domain.saying import Code, Moment, Press, Section, Sentence, Strong
from bot.domain.using import EndpointRecord, EndpointStage, PlanView
from bot.domain.values import how_many

_E = EndpointStage
_STAGES: dict[EndpointStage, str] = {
    _E.WAITING: "waits for the plan",
    _E.CONFIGURING: "is being configured",
    _E.CREATING: "is being made",
    _E.COMING_UP: "is coming up",
    _E.IN_SERVICE: "is in service",
    _E.FAILED: "failed",
    _E.DELETING: "is being deleted",
    _E.UNCONFIGURING: "is deleted; its configuration is next",
    _E.GONE: "is gone, and so is its configuration",
}


def named(record: EndpointRecord) -> Sentence:
    """Return `endpoint … of gpu-42`."""
    order = record.order
    return (
        "Endpoint ",
        Code(text=order.name),
        " of ",
        Strong(text=gpu_id(order.reservation_id)),
    )


def stage_words(record: EndpointRecord) -> Sentence:
    """Return where the endpoint is."""
    why = f": {record.detail}" if record.detail else ""
    end = "" if why.endswith(".") else "."
    return (*named(record), f" {_STAGES[record.stage]}{why}{end}")


def use_words(record: EndpointRecord) -> tuple[Sentence, ...]:
    """Return what the endpoint holds of its plan, when SageMaker shows it."""
    if record.used is None or record.total is None:
        return ()
    return ((f"It uses {record.used} of the plan's {how_many(record.total, 'machine')}.",),)


def ready_words(record: EndpointRecord, until: datetime | None) -> tuple[Sentence, ...]:
    """Return that it serves, until when, and what happens then."""
    order = record.order
    call: Sentence = (
        "Call it with ",
        Code(
            text=f"aws sagemaker-runtime invoke-endpoint --endpoint-name {order.name}"
            f" --region {order.region}"
        ),
        ".",
    )
    return (stage_words(record), *use_words(record), call, *_until(until))


def end_words(record: EndpointRecord, until: datetime) -> tuple[Sentence, ...]:
    """Return the warning before the plan's end."""
    return (
        (
            *named(record),
            ": its plan ends ",
            Moment(at=until),
            (
                ". Past that moment SageMaker keeps the endpoint, but every call to it fails."
                " I delete it then, and its configuration after it."
            ),
        ),
    )


def failed_words(record: EndpointRecord) -> tuple[Sentence, ...]:
    """Return why it failed and what can be done."""
    return (
        stage_words(record),
        (
            "A failed endpoint can only be deleted. Then make it anew with ",
            Code(text=f"/gpu {create_line(record)}"),
            ".",
        ),
    )


def create_line(record: EndpointRecord) -> str:
    """Return the line that makes such an endpoint."""
    order = record.order
    return f"endpoint create {gpu_id(order.reservation_id)} {order.model} x{order.count}"


def waiting_words(plan: PlanView | None) -> str:
    """Return why the endpoint has to wait."""
    if plan is None:
        return "SageMaker does not show the plan yet"
    return f"the plan is {plan.status}, and SageMaker takes endpoints only on an Active one"


def delete_press(record: EndpointRecord) -> Press:
    """Return the button that deletes it, with what that means."""
    return Press(
        action="gpu.endpoint.delete",
        label="Delete the endpoint",
        argument=str(record.order.reservation_id),
        style="danger",
        confirm=(
            f"Delete endpoint {record.order.name} and its configuration? Calls to it fail from"
            " then on. The plan stays paid and can serve another endpoint."
        ),
    )


def sections(*sentences: Sentence) -> tuple[Section, ...]:
    """Return one section."""
    return (Section(sentences=sentences),)


def _until(until: datetime | None) -> tuple[Sentence, ...]:
    if until is None:
        return ()
    return (("The plan serves it until ", Moment(at=until), "; then I delete it."),)
