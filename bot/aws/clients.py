"""Sessions and clients: one session per account and role, two ways of calling.

READING repeats a read as boto3 does. SPENDING never repeats: botocore by itself sends a purchase
three times when the answer is late or broken, and Capacity Blocks have no client token.
"""

import threading
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any, Final, Literal

import boto3
import botocore.session
from botocore.client import BaseClient
from botocore.config import Config
from botocore.credentials import (
    AssumeRoleCredentialFetcher,
    CredentialProvider,
    CredentialResolver,
    DeferredRefreshableCredentials,
)
from botocore.exceptions import BotoCoreError, ClientError
from botocore.utils import parse_timestamp
from typing_extensions import override

from bot.aws.errors import code_of, message_of
from bot.aws.metering import meter
from bot.domain.errors import BugError, RefusedError
from bot.policy.configuration import Account

READING: Final = Config(
    retries={"mode": "standard", "total_max_attempts": 3},
    connect_timeout=5,
    read_timeout=20,
    max_pool_connections=48,  # calls that a reading has in flight; all prices come from one place
    user_agent_extra="gpubot",
)
SPENDING: Final = Config(
    retries={"mode": "standard", "total_max_attempts": 1},
    connect_timeout=5,
    read_timeout=60,
    max_pool_connections=4,
    user_agent_extra="gpubot",
)

Purpose = Literal["read", "buy", "launch"]

_PRICING_REGIONS: Final = {"us": "us-east-1", "eu": "eu-central-1", "ap": "ap-south-1"}
"""The Price List Query API is served from three Regions only (AWS Price List user guide)."""


def instant_of(text: Any) -> datetime:
    """Return the instant of an answer: UTC as ISO 8601 at once, all else by botocore's way.

    botocore asks dateutil, which takes a sixth of a whole search for Capacity Blocks.
    """
    if isinstance(text, str) and text.endswith("Z") and "T" in text:
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            return parse_timestamp(text)
    return parse_timestamp(text)


class _AssumedRole(CredentialProvider):
    """Credentials of a role, fetched when first needed and renewed by botocore."""

    METHOD = "gpubot-assume-role"
    CANONICAL_NAME = "custom-gpubot-assume-role"

    def __init__(self, source: botocore.session.Session, role: str, region: str) -> None:
        super().__init__()
        self._source = source
        self._role = role
        self._region = region

    @override
    def load(self) -> DeferredRefreshableCredentials:
        fetcher = AssumeRoleCredentialFetcher(
            # STS is asked in a Region of ours: the environment need not name one.
            client_creator=partial(self._source.create_client, region_name=self._region),
            source_credentials=self._source.get_credentials(),
            role_arn=self._role,
            extra_args={"RoleSessionName": "gpubot"},
        )
        return DeferredRefreshableCredentials(
            method=self.METHOD, refresh_using=fetcher.fetch_credentials
        )


class Clients:
    """Clients of every account, made under one lock when first needed, then shared by threads."""

    def __init__(self, accounts: Iterable[Account]) -> None:
        self.accounts = {account.name: account for account in accounts}
        self._lock = threading.Lock()
        self._sessions: dict[str | None, boto3.Session] = {}
        self._clients: dict[tuple[str, str, str | None, bool], BaseClient] = {}

    def account(self, name: str) -> Account:
        """Return the account. Raises BugError when the configuration has none of that name."""
        if name not in self.accounts:
            message = f"no account is called {name!r} in the configuration"
            raise BugError(message)
        return self.accounts[name]

    def reading(self, service: str, account: str, region: str) -> BaseClient:
        """Return the client for reads."""
        return self._client(service, region, self._role(account, "read"), spends=False)

    def pricing(self, account: str, region: str) -> BaseClient:
        """Return a Price List client; its own Region has nothing to do with the product's."""
        return self.reading("pricing", account, _PRICING_REGIONS.get(region[:2], "us-east-1"))

    def spending(
        self, service: str, account: str, region: str, *, purpose: Purpose = "buy"
    ) -> BaseClient:
        """Return the client that sends once.

        The role's credentials are fetched here, so that their failure is plainly no purchase.
        Raises RefusedError when they can't be had.
        """
        role = self._role(account, purpose)
        try:
            credentials = self._session(role).get_credentials()
            if credentials is None:
                raise RefusedError("NoCredentials", "there are no AWS credentials")
            credentials.get_frozen_credentials()
            return self._client(service, region, role, spends=True)
        except (BotoCoreError, ClientError) as error:
            raise RefusedError(code_of(error), message_of(error)) from error

    def warm(self) -> None:
        """Make the reading clients ahead of the first request; the first costs most."""
        for account in self.accounts.values():
            for region in account.regions:
                for service in ("ec2", "service-quotas"):
                    self.reading(service, account.name, region)

    def _role(self, account: str, purpose: Purpose) -> str | None:
        found = self.account(account)
        roles = {"read": found.read_role, "buy": found.buy_role, "launch": found.launch_role}
        return roles[purpose]

    def _session(self, role: str | None) -> boto3.Session:
        with self._lock:
            return self._session_locked(role)

    def _session_locked(self, role: str | None) -> boto3.Session:
        if role not in self._sessions:
            session = botocore.session.Session()
            session.get_component("response_parser_factory").set_parser_defaults(
                timestamp_parser=instant_of
            )
            meter(session)
            if role is not None:
                own = _AssumedRole(botocore.session.Session(), role, self._home(role))
                session.register_component("credential_provider", CredentialResolver([own]))
            self._sessions[role] = boto3.Session(botocore_session=session)
        return self._sessions[role]

    def _home(self, role: str) -> str:
        """Return a Region of the account that the role is for."""
        return next(
            account.regions[0]
            for account in self.accounts.values()
            if role in (account.read_role, account.buy_role, account.launch_role)
        )

    def _client(self, service: str, region: str, role: str | None, *, spends: bool) -> BaseClient:
        key = (service, region, role, spends)
        with self._lock:
            if key not in self._clients:
                make: Any = self._session_locked(role).client
                config = SPENDING if spends else READING
                self._clients[key] = make(service, region_name=region, config=config)
            return self._clients[key]
