"""The demo's conversation: nothing is told without what belongs to it, and nothing twice."""

from datetime import UTC, datetime

from sandbox.telling import Conversation

NOW = datetime(2027, 3, 10, 15, tzinfo=UTC)
DIGEST = "Digest\nStarting soon\ngpu-1 starts"


class Surface:
    """A control surface with the messages of one channel."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def now(self) -> datetime:
        return NOW

    def get(self, path: str) -> list[dict[str, object]]:
        if "channel=C0GPU" not in path:
            return []
        return [
            {"ts": ts, "user": "U0BOT", "text": text, "blocks": [], "deleted": False}
            for ts, text in self.texts.items()
        ]


def told(surface: Surface, lines: list[str]) -> list[str]:
    talk = Conversation(surface, lines.append)  # type: ignore[arg-type] # the two calls it needs
    talk.catch_up()
    return [line.split("  ")[-1].strip() for line in lines]


def test_a_heading_is_followed_by_what_stands_under_it_also_the_second_time() -> None:
    surface = Surface()
    surface.texts = {"1.0": DIGEST, "2.0": f"{DIGEST}\nMoney\n$5"}
    assert told(surface, [])[-5:] == ["Digest", "Starting soon", "gpu-1 starts", "Money", "$5"]


def test_the_same_words_under_another_first_line_are_not_repeated() -> None:
    surface = Surface()
    surface.texts = {"1.0": DIGEST, "2.0": DIGEST.replace("Digest", "Again")}
    assert told(surface, [])[-1] == "Again"


def test_a_change_that_only_takes_lines_away_is_not_told() -> None:
    surface, lines = Surface(), list[str]()
    surface.texts = {"1.0": DIGEST}
    talk = Conversation(surface, lines.append)  # type: ignore[arg-type] # the two calls it needs
    talk.catch_up()
    before = len(lines)
    surface.texts = {"1.0": "Digest"}
    talk.catch_up()
    assert len(lines) == before
