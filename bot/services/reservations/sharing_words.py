"""What is said of a share: that it stands, or why AWS refuses it and who can mend that. Pure."""

from datetime import datetime
from enum import StrEnum

from bot.domain.errors import RefusedError
from bot.domain.records import Reservation, gpu_id
from bot.domain.saying import Code, Moment, Sentence, Strong
from bot.domain.sharing import ShareRecord


class ShareRefusal(StrEnum):
    """What kind of no AWS said to a share."""

    ORGANIZATION = "organization"
    NEW_ACCOUNT = "new account"
    PERMISSION = "permission"
    LIMIT = "limit"
    OTHER = "other"


_DENIED = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"})
_LIMITS = frozenset({"ResourceShareLimitExceededException", "TagLimitExceededException"})


def sort_of(refused: RefusedError) -> ShareRefusal:
    """Return what kind of no it is, by AWS's code or, where one code says many things, its words.

    The texts are those that people report (terraform-provider-aws issues 7769 and 12169).
    """
    said = refused.detail.lower()
    if "billing history" in said or "new account" in said:
        return ShareRefusal.NEW_ACCOUNT
    if "organization" in said:
        return ShareRefusal.ORGANIZATION
    if refused.code in _DENIED:
        return ShareRefusal.PERMISSION
    return ShareRefusal.LIMIT if refused.code in _LIMITS else ShareRefusal.OTHER


def stands(reservation: Reservation, record: ShareRecord) -> tuple[Sentence, ...]:
    """Return that it is shared, and how it is used from there."""
    share, order = record.share, record.order
    zone = share.zone_id if share is not None else None
    own = share.zone if share is not None else None
    where = f" in {zone}" if zone else ""
    called = f", which is called {own} there" if own else ""
    return (
        (
            Strong(text=gpu_id(reservation.id)),
            " is shared: ",
            Code(text=order.capacity_id),
            (
                f", bought in {order.account}, can be used from {order.consumer} (AWS RAM). Launch"
                f" from there{where}{called}; "
            ),
            Code(text=f"/gpu launch {gpu_id(reservation.id)}"),
            (
                " shows how. Both accounts draw on the same machines, first come, first served;"
                f" only {order.account} can extend it."
            ),
        ),
    )


def refused(
    reservation: Reservation, record: ShareRecord, refusal: ShareRefusal, *, again: datetime
) -> tuple[Sentence, ...]:
    """Return why it is not shared, what mends that, and when it is tried again."""
    order = record.order
    return (
        (
            Strong(text=gpu_id(reservation.id)),
            " is not shared yet: AWS does not let ",
            Code(text=order.capacity_id),
            f" of {order.account} be used from {order.consumer}. {_mend(record, refusal)}",
            " I try again ",
            Moment(at=again),
            f", and later; until then it can be used in {order.account} itself.",
        ),
        (f"AWS says {record.why}",),
    )


def _mend(record: ShareRecord, refusal: ShareRefusal) -> str:
    order = record.order
    match refusal:
        case ShareRefusal.ORGANIZATION:
            return (
                "Either the two accounts are not in one AWS Organization, or sharing is not enabled"
                " in it: in the organization's management account run"
                " aws ram enable-sharing-with-aws-organization."
            )
        case ShareRefusal.NEW_ACCOUNT:
            return (
                f"{order.account} is too new, or has too short a billing history, to share"
                " capacity; AWS Support can say from when it may."
            )
        case ShareRefusal.PERMISSION:
            return (
                f"The buying role of {order.account} lacks the right: attach the policy of"
                " docs/iam/buy.json, which has ram:CreateResourceShare."
            )
        case ShareRefusal.LIMIT:
            return (
                f"{order.account} has as many shares as AWS allows: delete some in AWS RAM, or ask"
                " for a higher quota."
            )
        case ShareRefusal.OTHER:
            return f"An administrator should look at AWS RAM in {order.account}, {order.region}."
