"""One line on a card: how what one account buys is used from the account of the team."""

from bot.domain.decision import Option
from bot.domain.sharing import Elsewhere, Hindrance, Way
from bot.policy.accounts import HINDRANCES
from bot.services.words.views import CardView, option_key
from handlers.rendering import code, shown


def elsewhere_line(option: Option, view: CardView) -> str | None:
    """Return what will happen, before it is approved; None when it is used where it is bought."""
    passage = view.elsewhere.get(option_key(option))
    return None if passage is None else _words(passage)


def _words(passage: Elsewhere) -> str:
    buyer, user = code(passage.buyer), code(passage.user)
    where = f" in {shown(passage.zone_id)}" if passage.zone_id else ""
    match passage.way:
        case Way.SHARED:
            return (
                f"Bought in {buyer}, shared with {user} (AWS RAM) once scheduled;"
                f" launch from there{where}"
            )
        case Way.UNSURE:
            return (
                f"⚠ Bought in {buyer}; sharing it with {user} (AWS RAM) is tried once it is"
                " scheduled, and works only if both are in one AWS Organization, which the"
                f" administrator's file does not say. If not, use it in {buyer}"
            )
        case Way.STAYS:
            return f"⚠ {_verb(passage)} in {buyer}, *can't be used from {user}*: {_why(passage)}"


def _verb(passage: Elsewhere) -> str:
    verbs = {Hindrance.LAUNCHED: "Launched", Hindrance.HELD: "Held"}
    return verbs.get(passage.hindrance, "Bought") if passage.hindrance else "Bought"


def _why(passage: Elsewhere) -> str:
    why = HINDRANCES.get(passage.hindrance, "") if passage.hindrance else ""
    buyer, user = code(passage.buyer), code(passage.user)
    if passage.hindrance is Hindrance.NOT_NAMED:
        return f"{why}. Have it added there, use it in {buyer}, or take an option of {user}"
    return f"{why}. Use it in {buyer}, or take an option of {user}"
