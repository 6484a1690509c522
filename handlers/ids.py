"""Every name that Slack sends back to us, and the value that a button carries.

Names are matched exactly, never by pattern: "approve" as a pattern also matches "disapprove".
"""

from typing import Annotated, Self

from pydantic import Field

from bot.domain.base import Model
from bot.domain.errors import UserError

COMMAND = "/gpu"

REQUEST = "gpu.request"
APPROVE = "gpu.approve"
DENY = "gpu.deny"
ANOTHER = "gpu.another"
CHANGE = "gpu.change"
CANCEL = "gpu.cancel"
SEARCH = "gpu.search"
CHOICE = "gpu.choice"
FORM = "gpu.form"
OLDER = "gpu.older"
EXTEND = "gpu.extend"
RELEASE = "gpu.release"
CLEANUP = "gpu.cleanup"
CLEAN = "gpu.clean"
CLEAN_ALL = "gpu.clean.all"
CLEAN_AGREE = "gpu.clean.agree"
LAUNCH = "gpu.launch"
KIT = "gpu.kit"
ENDPOINT_DELETE = "gpu.endpoint.delete"
TAKE = "gpu.take"
KEEP = "gpu.keep"
NOTHING = "gpu.nothing"
PERMIT = "gpu.permit"
PERMIT_ASK = "gpu.permit.ask"
PERMIT_END = "gpu.permit.end"
ACCEPT = "gpu.accept"
DECLINE = "gpu.decline"
ASK = "gpu.ask"
ANSWER = "gpu.answer"
ALONE = "gpu.alone"
RETRY = "gpu.retry"
WATCH = "gpu.watch"
WATCH_FILE = "gpu.watch.file"
WATCH_STOP = "gpu.watch.stop"
DIGEST_POST = "gpu.digest.post"
HEALTH = "gpu.health"
SHOW = "gpu.show"
LOOK = "gpu.look"
HOME_OLDER = "gpu.home.older"
HOME_NEWEST = "gpu.home.newest"

REQUEST_VIEW = "gpu.request.view"
DENY_VIEW = "gpu.deny.view"
ASK_VIEW = "gpu.ask.view"
ANSWER_VIEW = "gpu.answer.view"
ALONE_VIEW = "gpu.alone.view"
WORDS_VIEWS = (ASK_VIEW, ANSWER_VIEW, ALONE_VIEW)
"""Forms that take one text."""

EVENT_TYPE = "gpubot_message"
"""The metadata event type of everything that the bot posts."""

MOST_VALUE = 2_000
"""Slack's limit for a button's value (docs.slack.dev, button element)."""


Number = Annotated[int, Field(ge=0, lt=10**12)]
"""A number that a database can hold, and that counts something."""


class ButtonValue(Model):
    """What a button carries: ids only. Everything else is read again when it is pressed.

    `delivery` is the recorded text that a choice is about; `field` and `choice` the question and
    the place of the answer in it; `seen` the first figures of the decision that was shown;
    `argument` what another room gave a button to carry.
    """

    reservation: Number | None = None
    proposal: Number | None = None
    rank: Number | None = None
    seen: str | None = None
    delivery: Number | None = None
    field: str | None = None
    choice: Number | None = None
    again: bool = False
    confirm: bool = False
    scope: str | None = None
    before: Number | None = None
    argument: str | None = None

    def text(self) -> str:
        """Return it as a button's value."""
        return self.model_dump_json(exclude_defaults=True)

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the value of a button. Raises UserError when it is none of ours."""
        try:
            return cls.model_validate_json(text)
        except ValueError as error:
            message = "That button is from an older version of me and no longer works."
            raise UserError(message, hint="/gpu list", code="outdated") from error
