"""The bot's own credentials, in the account that its configuration names."""

from pathlib import Path
from typing import Any

import boto3
import yaml
from botocore.config import Config

# Keys that belong to no account in particular: the simulated AWS takes them for its default one.
ANYBODY = {
    "AWS_ACCESS_KEY_ID": "AKIASANDBOXSANDBOX00",
    "AWS_SECRET_ACCESS_KEY": "sandbox",
}


def home_account(config: Path) -> str | None:
    """The first account of the file that is read with the bot's own credentials, if any.

    A file that is no good is the bot's to complain about.
    """
    try:
        values = yaml.safe_load(config.read_text("utf-8"))
        accounts: list[dict[str, Any]] = values["accounts"]
        own = [str(a["account_id"]) for a in accounts if a.get("read_role") is None]
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError):
        return None
    return own[0] if own else None


def sign_in(endpoint: str, config: Path) -> dict[str, str]:
    """Environment variables with credentials of the configuration's home account.

    The account is entered by AssumeRole, so `sold` and `calls` name it as AWS would.
    """
    account = home_account(config)
    if account is None:
        return dict(ANYBODY)
    sts = boto3.client(
        "sts",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=ANYBODY["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=ANYBODY["AWS_SECRET_ACCESS_KEY"],
        config=Config(proxies={}, retries={"total_max_attempts": 1}),
    )
    role = f"arn:aws:iam::{account}:role/gpubot"
    entered = sts.assume_role(RoleArn=role, RoleSessionName="gpubot")["Credentials"]
    sts.close()
    return {
        "AWS_ACCESS_KEY_ID": entered["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": entered["SecretAccessKey"],
        "AWS_SESSION_TOKEN": entered["SessionToken"],
    }
