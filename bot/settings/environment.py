"""Environment variables, read once and frozen; secrets never show in a repr."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, SecretStr, StringConstraints, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
from typing_extensions import override

from bot.domain.errors import SettingsError

SLACK_API = "https://slack.com/api/"


def default_database() -> str:
    """Return the address of the database in the user's data folder, which is made if missing."""
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    folder = Path(home) / "gpubot"
    with contextlib.suppress(OSError):  # the store then says which folder it is and what to do
        folder.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{folder}/gpubot.sqlite"


class Environment(BaseSettings):
    """Every variable that the bot reads (AWS's own are read by boto3).

    An app token means Socket Mode; without one the bot serves HTTP on `PORT` and needs the
    signing secret. In Socket Mode `PORT`, when set, serves health and metrics only.
    """

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    slack_bot_token: SecretStr
    slack_app_token: SecretStr | None = None
    slack_signing_secret: SecretStr | None = None
    slack_api_url: Annotated[str, StringConstraints(pattern=r"^https?://\S+$")] = SLACK_API
    port: Annotated[int, Field(ge=0, le=65535)] | None = None
    host: str = "0.0.0.0"  # noqa: S104 — a container's health check comes from outside
    gpubot_database: str = Field(default_factory=default_database)
    gpubot_config: Path
    gpubot_clock: Annotated[str, StringConstraints(pattern=r"^(system|https?://\S+)$")] = "system"

    @classmethod
    @override
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read the environment only: a stray file in the working folder sets nothing."""
        return init_settings, env_settings

    @property
    def socket_mode(self) -> bool:
        """Return whether Slack is reached by Socket Mode."""
        return self.slack_app_token is not None


HINTS: Mapping[str, str] = {
    "slack_bot_token": "set it to the Bot User OAuth Token (xoxb-…) of your Slack app",
    "slack_app_token": "set it to an app-level token (xapp-…) with connections:write",
    "slack_signing_secret": "set it to the Signing Secret of your Slack app",
    "slack_api_url": f"leave it out, or write an address like {SLACK_API}",
    "port": "write a number between 0 and 65535",
    "gpubot_config": "name your YAML file; `gpubot config example > gpubot.yaml` writes one",
    "gpubot_clock": "leave it out, or write system or the address of a clock",
}


def read_environment() -> Environment:
    """Return the settings.

    Raises:
        SettingsError: a variable is missing or wrong; the line names it and what to write.
    """
    try:
        environment = Environment(**_nothing())
    except ValidationError as error:
        raise SettingsError(_line(error)) from None
    _check_token(environment.slack_bot_token, "SLACK_BOT_TOKEN", "xoxb-")
    if environment.slack_app_token is not None:
        _check_token(environment.slack_app_token, "SLACK_APP_TOKEN", "xapp-")
    elif environment.slack_signing_secret is None:
        raise SettingsError(
            "neither SLACK_APP_TOKEN (Socket Mode) nor SLACK_SIGNING_SECRET (HTTP mode) is set:"
            " set one of them"
        )
    elif environment.port is None:
        raise SettingsError("PORT is not set: HTTP mode needs the port to listen on, like 3000")
    return environment


def _nothing() -> dict[str, Any]:
    # The values come from the environment; mypy's plugin wants them as arguments.
    return {}


def _check_token(token: SecretStr, name: str, start: str) -> None:
    if not token.get_secret_value().startswith(start):
        field = name.lower()
        raise SettingsError(f"{name} does not begin with {start}: {HINTS[field]}")


def _line(error: ValidationError) -> str:
    lines = []
    for fault in error.errors(include_input=False, include_url=False):
        field = str(fault["loc"][0])
        what = "is not set" if fault["type"] == "missing" else f"is wrong ({fault['msg']})"
        lines.append(f"{field.upper()} {what}: {HINTS.get(field, 'see README, Configuration')}")
    return "; ".join(lines)
