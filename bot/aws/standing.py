"""How an account stands in one place: what it holds there, and how much more its quotas allow."""

from concurrent.futures import Executor, Future

from bot.aws import wire
from bot.aws.books import RegionBooks, read_instances, read_plans, read_reservations
from bot.aws.clients import Clients
from bot.aws.findings import Found, Place, Question
from bot.aws.owned import owned_plans, owned_reservations
from bot.aws.quotas import LimitRow, Quotas
from bot.aws.zones import Zones
from bot.catalog import Catalog
from bot.domain.errors import MarketError
from bot.domain.market import Kind
from bot.engine.wanted import ml_name


class Standing:
    """Reads capacity that is held, and quotas with what is used of them."""

    def __init__(self, clients: Clients, *, zones: Zones, quotas: Quotas, catalog: Catalog) -> None:
        self._clients = clients
        self._zones = zones
        self._quotas = quotas
        self._catalog = catalog

    def found(self, place: Place, question: Question, calls: Executor) -> Found:
        """Return what is owned, and the quotas that could stop the request."""
        if question.on_ec2:
            return self._ec2(place, question, calls)
        return self._sagemaker(place, question)

    def _ec2(self, place: Place, question: Question, calls: Executor) -> Found:
        """Ask for everything at once, then put together what was answered."""
        found = Found()
        types = frozenset(item.instance_type for item in question.wanted)
        where = (place.account, place.region)
        held = calls.submit(read_reservations, self._clients, *where)
        running = calls.submit(read_instances, self._clients, *where, types)
        zones = calls.submit(self._zones.known, *where)
        limits = {
            code: calls.submit(self._quotas.limit, *where, "ec2", code)
            for code in self._quotas.ec2_codes(types, question.kinds)
        }

        def owned() -> None:
            found.owned += owned_reservations(
                held.result(),
                account=place.account,
                region=place.region,
                types=types,
                zones=zones.result(),
            )

        found.guard(place, "owned", owned)
        found.quotas += self._quotas.ec2_rows(
            _books(found, place, held, running),
            _answered(found, place, limits),
            account=place.account,
            region=place.region,
            types=types,
            at=max(question.request.earliest_start or question.now, question.now),
        )
        return found

    def _sagemaker(self, place: Place, question: Question) -> Found:
        found = Found()
        names = frozenset(ml_name(item.instance_type, self._catalog) for item in question.wanted)
        plans: list[wire.Plan] = []

        def owned() -> None:
            plans.extend(read_plans(self._clients, place.account, place.region))
            found.owned += owned_plans(
                self._clients, plans, account=place.account, region=place.region, types=names
            )

        def quotas() -> None:
            found.quotas += self._quotas.plan_rows(
                None if found.not_read else plans,
                account=place.account,
                region=place.region,
                types=sorted(names),
            )

        found.guard(place, "owned", owned)
        if Kind.TRAINING_PLAN in question.kinds:
            found.guard(place, "quotas", quotas)
        return found


def _books(
    found: Found,
    place: Place,
    held: Future[list[wire.Reservation]],
    running: Future[list[wire.Instance]],
) -> RegionBooks | None:
    """Return the books, or None when one of them was not read: then what is used is unknown."""
    try:
        return RegionBooks(tuple(held.result()), tuple(running.result()))
    except MarketError as error:
        found.missed(place, "quotas", error.why, error.detail)
        return None


def _answered(
    found: Found, place: Place, limits: dict[str, Future[LimitRow | None]]
) -> dict[str, LimitRow | None]:
    """Return the limits by code; one that was not read takes no other with it."""
    answered: dict[str, LimitRow | None] = {}
    for code, limit in limits.items():
        try:
            answered[code] = limit.result()
        except MarketError as error:
            found.missed(place, "quotas", error.why, error.detail)
    return answered
