"""How sure each kind is, from what the market knows of it."""

from datetime import datetime, timedelta

from bot.domain.decision import Certainty
from bot.domain.market import Kind
from bot.engine.candidates import Candidate

REFUSAL_DOUBT = timedelta(hours=24)
"""How long a refusal of on-demand capacity leaves doubt about the next try."""
LIKELY_SCORE = 7
LOW_SCORE = 3
CLASSES = tuple(Certainty)


def refused_within(candidate: Candidate, age: timedelta, now: datetime) -> bool:
    """Return whether this very row was refused at most `age` ago."""
    return candidate.refused_at is not None and now - candidate.refused_at <= age


def low_score(candidate: Candidate) -> bool:
    """Return whether a spot row has a placement score of 3 or less, or none."""
    if candidate.kind is not Kind.SPOT:
        return False
    return candidate.score is None or candidate.score <= LOW_SCORE


def certainty(candidate: Candidate, now: datetime) -> Certainty:
    """Return the class that the option ranks by when certainty is required."""
    match candidate.kind:
        case Kind.OWNED:
            return Certainty.HELD
        case Kind.CAPACITY_BLOCK | Kind.TRAINING_PLAN:
            return Certainty.GUARANTEED
        case Kind.ODCR:
            return Certainty.UNCERTAIN
        case Kind.ON_DEMAND:
            doubt = refused_within(candidate, REFUSAL_DOUBT, now)
            return Certainty.UNCERTAIN if doubt else Certainty.LIKELY
        case _:
            if low_score(candidate) or candidate.score is None:
                return Certainty.UNKNOWN
            likely = candidate.score >= LIKELY_SCORE
            return Certainty.LIKELY if likely else Certainty.UNCERTAIN
