"""A bell that counts."""


class FakeBell:
    """See bot.ports.Bell."""

    def __init__(self) -> None:
        self.rung = 0

    def ring(self) -> None:
        self.rung += 1
