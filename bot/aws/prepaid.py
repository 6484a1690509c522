"""Prepaid capacity on sale in one place: coarse searches first, then what they leave open."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from typing import Final, Protocol

from bot.aws.capacity_blocks import CapacityBlocks
from bot.aws.findings import Found, Place, Question
from bot.aws.training_plans import TrainingPlans
from bot.catalog import Catalog
from bot.domain.errors import MarketError
from bot.domain.market import Kind, Offering
from bot.engine.asking import Search, block_searches, plan_searches

_TOKEN_PATIENCE_SECONDS: Final = 20.0
"""The longest that one search waits for our own share of the calls."""
_ENDS_THE_PLACE: Final = frozenset({"throttled", "refused", "unreachable"})
"""Why nothing more is asked here; a quota stops its own type only."""


class _Searching(Protocol):
    def __call__(
        self, search: Search, *, account: str, region: str, patience_seconds: float
    ) -> Sequence[Offering]: ...


class Prepaid:
    """Searches Capacity Blocks for EC2 and training plans for SageMaker."""

    def __init__(self, blocks: CapacityBlocks, plans: TrainingPlans, *, catalog: Catalog) -> None:
        self._blocks = blocks
        self._plans = plans
        self._catalog = catalog

    def found(self, place: Place, question: Question, searches: Executor) -> Found:
        """Return every offering that the rounds of searches bring up, each once."""
        found = Found()
        market = (Kind.CAPACITY_BLOCK if question.on_ec2 else Kind.TRAINING_PLAN).value
        reader: _Searching = self._blocks.search if question.on_ec2 else self._plans.search
        answered: dict[Search, Sequence[Offering]] = {}
        stopped: set[str] = set()
        over = False

        def ask(search: Search) -> Sequence[Offering] | MarketError:
            try:
                return reader(
                    search,
                    account=place.account,
                    region=place.region,
                    patience_seconds=_TOKEN_PATIENCE_SECONDS,
                )
            except MarketError as error:
                return error

        while not over and (todo := self._round(question, answered, stopped)):
            for search, answer in zip(todo, searches.map(ask, todo), strict=True):
                answered[search] = () if isinstance(answer, MarketError) else answer
                if isinstance(answer, MarketError):
                    found.missed(place, market, answer.why, answer.detail)
                    over = over or answer.why in _ENDS_THE_PLACE
                    if answer.why == "quota":
                        stopped.add(search.instance_type)
        found.offerings += _unique(answered.values())
        return found

    def _round(
        self,
        question: Question,
        answered: dict[Search, Sequence[Offering]],
        stopped: set[str],
    ) -> list[Search]:
        """Return the searches that are worth a call now, those of stopped types left out."""
        plan: Callable[..., tuple[Search, ...]] = (
            block_searches if question.on_ec2 else plan_searches
        )
        searches = plan(
            question.request,
            now=question.now,
            catalog=self._catalog,
            answered=answered,
            default_target=question.target,
        )
        return [search for search in searches if search.instance_type not in stopped]


def _unique(answers: Iterable[Sequence[Offering]]) -> Iterable[Offering]:
    return {offering.ref: offering for offers in answers for offering in offers}.values()
