"""What is known of the service quotas that cover one type of one kind."""

from fnmatch import fnmatchcase

from bot.catalog import Catalog
from bot.domain.market import Kind, Market, Quota
from bot.engine.candidates import Candidate
from bot.engine.terms import bare


class Quotas:
    """The market's quotas, looked up by kind, account, region and type."""

    def __init__(self, market: Market, catalog: Catalog) -> None:
        self._quotas = sorted(market.quotas, key=_order)
        self._catalog = catalog
        self._found: dict[tuple[Kind, str, str, str], tuple[Quota, ...]] = {}

    def covering(self, candidate: Candidate) -> tuple[Quota, ...]:
        """Return the quotas that count this candidate, ordered by name and code."""
        key = (candidate.kind, candidate.account, candidate.region, candidate.instance_type)
        if key not in self._found:
            self._found[key] = tuple(quota for quota in self._quotas if _covers(quota, candidate))
        return self._found[key]

    def needed(self, quota: Quota, candidate: Candidate) -> int | None:
        """Return what the candidate's whole count takes of the quota, in the quota's unit.

        None when vCPUs are counted and the catalog does not know the type.
        """
        if quota.unit == "instances":
            return candidate.machines
        known = self._catalog.types.get(bare(candidate.instance_type))
        return None if known is None else candidate.machines * known.vcpus

    def too_small(self, candidate: Candidate) -> str | None:
        """Return why a known quota does not hold the whole count, or None."""
        for quota in self.covering(candidate):
            need = self.needed(quota, candidate)
            if need is None or quota.limit is None:
                continue
            used = quota.used or 0
            if need > quota.limit - used:
                return (
                    f'The quota "{quota.name}" is too small: this needs {need} {quota.unit},'
                    f" the limit is {quota.limit} and {used} are in use."
                )
        return None

    def known(self, candidate: Candidate) -> bool:
        """Return whether some quota with a known limit and use covers the type."""
        return any(
            quota.limit is not None
            and quota.used is not None
            and self.needed(quota, candidate) is not None
            for quota in self.covering(candidate)
        )


def _covers(quota: Quota, candidate: Candidate) -> bool:
    return (
        candidate.kind in quota.kinds
        and candidate.account == quota.account
        and candidate.region == quota.region
        and any(fnmatchcase(candidate.instance_type, pattern) for pattern in quota.types)
    )


def _order(quota: Quota) -> tuple[str, ...]:
    return (quota.name, quota.code or "", quota.model_dump_json())
