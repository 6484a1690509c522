"""When a request is searched for, and under which name a refusal is remembered."""

from datetime import datetime

from bot.domain.records import Due, Reservation, gpu_id


def quote_due(reservation: Reservation, *, at: datetime, why: str = "first") -> Due:
    """Return the due row of a quote; `why` makes it unique among its version's."""
    subject = gpu_id(reservation.id)
    return Due(
        key=f"quote:{subject}:v{reservation.version}:{why}",
        kind="quote",
        subject=subject,
        at=at,
        argument=str(reservation.id),
    )


def refusal_name(kind: str, account: str, region: str, zone: str | None, instance_type: str) -> str:
    """Return the name under which a refusal of that very row is remembered."""
    return f"refused:{kind}:{account}:{region}:{zone or '-'}:{instance_type}"
