"""The environment and the administrator's file, read once, with a clear line for every fault."""

from bot.settings.config_file import EXAMPLE, problems_in, read_configuration
from bot.settings.environment import Environment, read_environment

__all__ = ["EXAMPLE", "Environment", "problems_in", "read_configuration", "read_environment"]
