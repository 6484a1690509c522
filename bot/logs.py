"""The log: JSON lines on stderr, each with our clock's time."""

import logging
import sys

import structlog

from bot.domain.values import utc_text
from bot.ports import Clock


def logging_with(clock: Clock) -> structlog.typing.FilteringBoundLogger:
    """Log JSON lines to stderr, each with our clock's time; libraries only when they warn."""

    def stamped(
        _logger: object, _name: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        event["at"] = utc_text(clock.now())
        return event

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            stamped,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    log: structlog.typing.FilteringBoundLogger = structlog.get_logger("gpubot")
    return log
