"""How the simulated Slack says no."""


class SlackError(Exception):
    """A Web API refusal: `code` is Slack's `error` string, `messages` its response metadata."""

    def __init__(self, code: str, *messages: str) -> None:
        super().__init__(code)
        self.code = code
        self.messages = messages


class ActError(ValueError):
    """A simulated person was asked to do what no person could do in Slack."""
