"""How one language says dates, amounts and sentences."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from functools import lru_cache

from bot.domain.request import Target
from bot.domain.values import money_text, plain_text
from bot.language.zones import zone_label


class Speech:
    """One language's sentences. `code` is en, pt or es."""

    __slots__ = ("_months", "_texts", "_weekdays", "code")

    def __init__(self, code: str, texts: Mapping[str, str]) -> None:
        """Take the language's table."""
        self.code = code
        self._texts = texts
        self._weekdays = texts["weekdays"].split()
        self._months = texts["months"].split()

    def say(self, key: str, /, **values: object) -> str:
        """Return the sentence with its values."""
        text = self._texts[key]
        return text.format(**values) if values else text

    def day(self, day: date) -> str:
        """Return weekday and full date: Monday, 15 March 2027."""
        return _day(self, day)

    def weekday(self, day: date) -> str:
        """Return the name of the day in the week."""
        return self._weekdays[day.weekday()]

    def month(self, day: date) -> str:
        """Return the name of the month."""
        return self._months[day.month - 1]

    def day_label(self, day: date) -> str:
        """Return a day for a choice: weekday and ISO date, which no locale can misread."""
        return f"{self.weekday(day)} {day.isoformat()}"

    def instant(self, instant: datetime, zone: tzinfo) -> str:
        """Return weekday, full date, time and zone there, and UTC beside it."""
        return _instant(self, instant, zone)

    def instant_label(self, instant: datetime, zone: tzinfo) -> str:
        """Return an instant for a choice: local time, zone and UTC."""
        local = instant.astimezone(zone)
        utc = instant.astimezone(UTC)
        name = local.tzname() or ""
        label = zone_label(zone)
        zone_text = label if name == label or not name.isalpha() else f"{name}, {label}"
        there = f"{self.day_label(local.date())} {_clock(local)} ({zone_text}"
        return f"{there})" if label == "UTC" else f"{there} = {_clock(utc)} UTC)"

    def amount(self, amount: Decimal) -> str:
        """Return dollars as the language writes them: $15,000.00 or US$ 15.000,00."""
        whole, _, fraction = money_text(amount).partition(".")
        grouped = f"{int(whole):,}"
        if self.code == "en":
            return f"${grouped}.{fraction}"
        return f"US$ {grouped.replace(',', '.')},{fraction}"

    def number(self, number: Decimal) -> str:
        """Return a plain number with the language's decimal mark."""
        text = plain_text(number)
        return text if self.code == "en" else text.replace(".", ",")

    def target(self, target: Target) -> str:
        """Return where the capacity is used, in words."""
        return self._texts[target.value]


@lru_cache(maxsize=1024)
def _day(speech: Speech, day: date) -> str:
    return speech.say(
        "date",
        weekday=speech.weekday(day),
        day=day.day,
        month=speech.month(day),
        year=day.year,
    )


@lru_cache(maxsize=1024)
def _instant(speech: Speech, instant: datetime, zone: tzinfo) -> str:
    local = instant.astimezone(zone)
    there = f"{speech.day(local.date())}, {_clock(local)} {zone_label(zone)}"
    utc = instant.astimezone(UTC)
    if zone is UTC or (local.utcoffset() == utc.utcoffset() and zone_label(zone) == "UTC"):
        return there
    return f"{there} ({utc.date().isoformat()} {_clock(utc)} UTC)"


def _clock(instant: datetime) -> str:
    seconds = f":{instant.second:02d}" if instant.second else ""
    return f"{instant.hour:02d}:{instant.minute:02d}{seconds}"
