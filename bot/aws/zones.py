"""Zones of a Region as one account sees them: names, ids, type and whether it is opted in."""

from datetime import timedelta
from typing import Final

from bot.aws import wire
from bot.aws.calls import read, understood
from bot.aws.clients import Clients
from bot.aws.rate import Shared
from bot.domain.base import Model
from bot.domain.errors import MarketError
from bot.ports import Clock

_KEEP: Final = timedelta(hours=6)


class ZoneFacts(Model):
    """What a market row says about its zone."""

    name: str
    id: str | None = None
    type: str | None = None
    opted_in: bool = True


class Zones:
    """Reads zones and remembers them for six hours; names differ between accounts, ids do not."""

    def __init__(self, clients: Clients, *, clock: Clock) -> None:
        self._clients = clients
        self._kept: Shared[dict[str, ZoneFacts]] = Shared(clock=clock, keep=_KEEP)

    def of(self, account: str, region: str) -> dict[str, ZoneFacts]:
        """Return the zones by name. Raises MarketError."""
        return self._kept.get((account, region), lambda: self._read(account, region))

    def known(self, account: str, region: str) -> dict[str, ZoneFacts]:
        """Return the zones by name, none when they can't be read: rows are worth showing still."""
        try:
            return self.of(account, region)
        except MarketError:
            return {}

    def _read(self, account: str, region: str) -> dict[str, ZoneFacts]:
        client = self._clients.reading("ec2", account, region)
        answer = read(client, "describe_availability_zones", AllAvailabilityZones=True)
        rows = understood(wire.Zones, answer).availability_zones
        return {
            row.zone_name: ZoneFacts(
                name=row.zone_name,
                id=row.zone_id,
                type=row.zone_type,
                opted_in=row.opt_in_status != "not-opted-in",
            )
            for row in rows
            if row.zone_name
        }


def facts_of(
    zones: dict[str, ZoneFacts], name: str | None, *, zone_type: str | None = None
) -> ZoneFacts:
    """Return what is known of the zone; one that is not listed counts as usable.

    A Local Zone that the account's list lacks is one that it has not opted into.
    """
    known = zones.get(name or "")
    if known is not None:
        return known
    local = zone_type == "local-zone"
    return ZoneFacts(name=name or "", type=zone_type, opted_in=not (local and bool(zones)))
