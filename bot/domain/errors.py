"""The tree of errors. Library exceptions stop at the adapter that knows the library.

GpuBotError
  BugError             our own rule is broken: stop this step, tell the operator
  SettingsError        the environment or the administrator's file must change
  UserError            the person can fix it; carries a hint that works
    CommandError       the text after /gpu is not a command
    NotAllowedError    this person may not do this
  StateError           the step is not legal from here
  ConflictError        another writer won: reload, do not repeat the call
  BusyError            the database did not take a write in time: nothing was stored
  UnknownRecordError   there is no such record here
  MarketError          a read from AWS failed; safe to repeat
  PurchaseError
    RefusedError       AWS said no: nothing was bought
    IndeterminateError no clear answer: it may be bought
  DeliveryError        Slack refused a message
    DeliveryDoubtError no clear answer: the message may be there
"""


class GpuBotError(Exception):
    """Base of every error that gpubot raises on purpose."""


class BugError(GpuBotError):
    """Our own rule is broken; used instead of assert, so that -O keeps it."""


class SettingsError(GpuBotError):
    """The environment or the administrator's file must change before a start.

    The message is one line that names the file or variable, the place, and what to write.
    """


class UserError(GpuBotError):
    """The person can mend it; `hint` is a line that works.

    `code` names the sentence where it is said in other languages, too; `named` are its values.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, code: str = "", **named: str
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
        self.named = named


class CommandError(UserError):
    """The text after /gpu is not a command."""


class NotAllowedError(UserError):
    """This person may not do this."""


class StateError(GpuBotError):
    """The step is not legal from the record's present state."""


class ConflictError(GpuBotError):
    """Another writer won; reload and look, do not repeat the call."""


class BusyError(GpuBotError):
    """The database did not take a write in time; nothing was stored."""


class UnknownRecordError(GpuBotError):
    """There is no such record in this database."""


class MarketError(GpuBotError):
    """A read from AWS failed; reading again is safe.

    `why` is one of the contract's words for `not_read` ("throttled", "quota", "refused",
    "unreachable", "unknown"), `detail` the raw code or text of AWS.
    """

    def __init__(self, why: str, detail: str) -> None:
        super().__init__(f"{why}: {detail}")
        self.why = why
        self.detail = detail


class PurchaseError(GpuBotError):
    """A call that spends did not plainly succeed. `code` is AWS's own."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class RefusedError(PurchaseError):
    """AWS said no with a code that means that nothing was bought."""


class IndeterminateError(PurchaseError):
    """No clear answer; the purchase may have happened and counts as spent."""


class DeliveryError(GpuBotError):
    """Slack refused a message; `code` is Slack's own error word.

    `retry_after_seconds` is set when Slack asked to wait, else None.
    """

    def __init__(self, code: str, *, retry_after_seconds: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.retry_after_seconds = retry_after_seconds


class DeliveryDoubtError(DeliveryError):
    """No clear answer from Slack; the message may be there."""
