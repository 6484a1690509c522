import pytest

from bot.domain.errors import SettingsError
from bot.settings import read_environment

GOOD = {
    "SLACK_BOT_TOKEN": "xoxb-1-secretsecret",
    "SLACK_APP_TOKEN": "xapp-1-secretsecret",
    "GPUBOT_CONFIG": "gpubot.yaml",
}


@pytest.fixture(autouse=True)
def _empty(monkeypatch) -> None:
    for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "PORT",
                 "SLACK_API_URL", "GPUBOT_DATABASE", "GPUBOT_CONFIG", "GPUBOT_CLOCK"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


def with_environment(monkeypatch, **values: str | None):
    for name, value in {**GOOD, **values}.items():
        if value is not None:
            monkeypatch.setenv(name, value)
    return read_environment()


def test_an_app_token_means_socket_mode(monkeypatch) -> None:
    assert with_environment(monkeypatch).socket_mode


def test_without_one_http_mode_needs_secret_and_port(monkeypatch) -> None:
    with pytest.raises(SettingsError, match="SLACK_SIGNING_SECRET"):
        with_environment(monkeypatch, SLACK_APP_TOKEN=None)
    with pytest.raises(SettingsError, match="PORT is not set"):
        with_environment(monkeypatch, SLACK_APP_TOKEN=None, SLACK_SIGNING_SECRET="s3cret")
    assert not with_environment(monkeypatch, SLACK_APP_TOKEN=None, PORT="3000").socket_mode


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"SLACK_BOT_TOKEN": None}, "SLACK_BOT_TOKEN is not set"),
        ({"SLACK_BOT_TOKEN": "xoxp-user"}, "SLACK_BOT_TOKEN does not begin with xoxb-"),
        ({"SLACK_APP_TOKEN": "xoxb-wrong"}, "SLACK_APP_TOKEN does not begin with xapp-"),
        ({"GPUBOT_CONFIG": None}, "GPUBOT_CONFIG is not set"),
        ({"PORT": "http"}, "PORT is wrong"),
        ({"PORT": "70000"}, "PORT is wrong"),
        ({"GPUBOT_CLOCK": "sundial"}, "GPUBOT_CLOCK is wrong"),
        ({"SLACK_API_URL": "slack"}, "SLACK_API_URL is wrong"),
    ],
)
def test_a_fault_names_the_variable_and_what_to_write(monkeypatch, values, named) -> None:
    with pytest.raises(SettingsError) as fault:
        with_environment(monkeypatch, **values)
    assert named in str(fault.value)
    assert "\n" not in str(fault.value)


def test_secrets_are_not_in_a_repr_nor_in_an_error(monkeypatch) -> None:
    environment = with_environment(monkeypatch, SLACK_SIGNING_SECRET="secretsecret")
    assert "secretsecret" not in repr(environment) + str(environment)
    with pytest.raises(SettingsError) as fault:
        with_environment(monkeypatch, PORT="secretsecret")
    assert "secretsecret" not in str(fault.value)


def test_the_settings_cannot_be_changed(monkeypatch) -> None:
    environment = with_environment(monkeypatch)
    with pytest.raises(ValueError, match="frozen"):
        environment.port = 1
