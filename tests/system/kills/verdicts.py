"""Whether a journey that was killed ended as the undisturbed one did."""

from collections import Counter
from collections.abc import Iterator

from tests.system.kills.books import BEGUN_ANEW, Books

UNSENT = ("after commit purchasing._buy_leg #2", "before aws PurchaseCapacityBlock #1")
"""Here the ledger says that the one call may have left, and it had not. It is never made again:
nothing is sold, the money stays held, and a person is asked to look."""

DOUBT = ("doubt-gpubot-…", "review-gpubot-…")
"""Notes that tell of doubt, once each under the card and under the approval."""

TOLD_BY_THE_MOMENT = ":remind:"
"""A late reminder says what AWS's last word was when it left; a restart may look first or after.
It must be there, and once."""


def differences(point: str, there: Books, reference: Books) -> list[str]:
    """Everything that is not as it should be after a kill at that point."""
    if point in UNSENT:
        return list(_held(there))
    return list(_same(there, reference))


def _same(there: Books, reference: Books) -> Iterator[str]:
    if there.sold != reference.sold:
        yield f"AWS sold {there.sold}, not {reference.sold}"
    if there.purchases_sent != reference.purchases_sent:
        yield f"{there.purchases_sent} purchases were sent, not {reference.purchases_sent}"
    for name, rows in reference.kept.items():
        if there.kept[name] != rows:
            yield f"{name} are {there.kept[name]}, not {rows}"
    yield from _audit(there, reference)
    yield from _messages(there, reference)
    yield from _once(there, reference)


def _audit(there: Books, reference: Books) -> Iterator[str]:
    mine, theirs = Counter(there.audit), Counter(reference.audit)
    lost, more = theirs - mine, mine - theirs
    if lost:
        yield f"the audit lacks {dict(lost)}"
    invented = {entry: count for entry, count in more.items() if entry[1] not in BEGUN_ANEW}
    if invented:
        yield f"the audit holds more: {invented}"


def _messages(there: Books, reference: Books) -> Iterator[str]:
    for key, texts in reference.said.items():
        if key not in there.said:
            yield f"lost: {key}"
        elif there.said[key] != texts and TOLD_BY_THE_MOMENT not in key[1]:
            yield f"{key} says {there.said[key]}, not {texts}"
    for key, texts in there.said.items():
        if key not in reference.said and not key[1].split(":")[-1].endswith(DOUBT):
            yield f"nobody else was told {key}: {texts}"


def _once(there: Books, reference: Books) -> Iterator[str]:
    for key, texts in there.said.items():
        if len(texts) != 1:
            yield f"said {len(texts)} times: {key}: {texts}"
    for whisper, count in there.whispered.items():
        if count > max(1, reference.whispered[whisper]):
            yield f"whispered {count} times: {whisper}"


def _held(there: Books) -> Iterator[str]:
    """What is wrong where nothing was sold and nobody can know that for sure."""
    if there.sold or there.purchases_sent:
        yield f"AWS sold {there.sold} in {there.purchases_sent} calls"
    if there.kept["purchases"] != [(1, 1, "indeterminate")]:
        yield f"purchases are {there.kept['purchases']}, not in doubt"
    if there.kept["reservations"] != [(1, "needs_review")]:
        yield f"reservations are {there.kept['reservations']}: nobody is asked to look"
    if [row[3] for row in there.kept["budget"]] != ["held"]:
        yield f"budget is {there.kept['budget']}: the money is not held"
    if there.kept["unsaid"] or there.kept["unread"]:
        yield f"left lying: {there.kept['unsaid']} {there.kept['unread']}"
    for words in DOUBT:
        told = [key for key in there.said if key[1].endswith(words)]
        if len(told) != 2:
            yield f"{words}: told in {told}"
    for key, texts in there.said.items():
        if len(texts) != 1:
            yield f"said {len(texts)} times: {key}"
