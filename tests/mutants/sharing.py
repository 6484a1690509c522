"""One broken guard of two accounts at a time; its tests must turn red on each."""

from tests.mutants.run import Mutant

_SERVICE = ("tests/services/sharing",)
_ADAPTER = ("tests/contract/aws/test_sharers.py",)
_POLICY = ("tests/unit/policy/test_accounts.py",)
_FILE = ("tests/unit/settings/test_config_file.py",)
_CARDS = ("tests/unit/cards/test_account_lines.py",)
_SANDBOX = ("tests/sandbox/aws/test_aws_sharing.py",)

TESTS: tuple[str, ...] = (*_SERVICE, *_ADAPTER, *_POLICY, *_FILE, *_CARDS, *_SANDBOX)

_SHARING = "bot/services/reservations/sharing.py"
_FOLLOWING = "bot/services/reservations/following.py"
_AWS = "bot/aws/sharing.py"
_ACCOUNTS = "bot/policy/accounts.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "what waits for its payment is shared",
        _SHARING,
        'HELD = frozenset({"scheduled", "active"})',
        'HELD = frozenset({"payment-pending", "scheduled", "active"})',
        _SERVICE,
    ),
    Mutant(
        "a share is planned anew at every look",
        _SHARING,
        "passage is None or not passage.shareable or share_of(tx, receipt) is not None",
        "passage is None or not passage.shareable",
        _SERVICE,
    ),
    Mutant(
        "what AWS does not share is tried",
        _SHARING,
        "passage is None or not passage.shareable or share_of",
        "passage is None or share_of",
        _SERVICE,
    ),
    Mutant(
        "shared is said before AWS shows it",
        _SHARING,
        "if share.stands and not blind:",
        "if not blind or share.id:",
        _SERVICE,
    ),
    Mutant(
        "a share that stands is shared and told again",
        _SHARING,
        "record is None or record.stage not in (_S.WANTED, _S.REFUSED)",
        "record is None or record.stage is _S.OVER",
        _SERVICE,
    ),
    Mutant(
        "a refusal is the last word",
        _SHARING,
        "            tx.dues.plan(_due(SHARE, receipt, record.order, again))\n",
        "",
        _SERVICE,
    ),
    Mutant(
        "the approvers do not hear of a refusal",
        _SHARING,
        "if proposal is not None:",
        "if proposal is None:",
        _SERVICE,
    ),
    Mutant(
        "who gave it away keeps the right to launch",
        _SHARING,
        "            end_shares(tx, [receipt], now=now)\n",
        "            continue\n",
        _SERVICE,
    ),
    Mutant(
        "what was given away while AWS was asked stays shared",
        _SHARING,
        "if stage in (_S.ENDING, _S.OVER):",
        "if stage is None:",
        _SERVICE,
    ),
    Mutant(
        "what comes back is taken for the share that was ended",
        _SHARING,
        "turn=len(before) + 1,",
        "turn=1,",
        _SERVICE,
    ),
    Mutant(
        "what will be shared is rehearsed where it is bought",
        "bot/services/approvals/proposing.py",
        "passage.user if passage is not None and passage.shareable else None",
        "None",
        ("tests/services/money/test_other_account.py",),
    ),
    Mutant(
        "a missing subnet is looked for in the buying account",
        "bot/aws/rehearsal.py",
        "as_used(leg, used_in, zones)",
        "as_used(leg, None, zones)",
        ("tests/contract/aws/test_sharers.py",),
    ),
    Mutant(
        "what the other account left is not looked for",
        "bot/services/endings/cleaning.py",
        "receipts = with_consumers(tx, tx.receipts.of(reservation_id))",
        "receipts = tx.receipts.of(reservation_id)",
        _SERVICE,
    ),
    Mutant(
        "a share outlives its reservation",
        _FOLLOWING,
        "shared = over and end_shares(tx, receipts, now=now)",
        "shared = False",
        _SERVICE,
    ),
    Mutant(
        "what is left is looked for before the share is ended",
        _FOLLOWING,
        "now=now + MINUTE if shared else now",
        "now=now - MINUTE if shared else now",
        _SERVICE,
    ),
    Mutant(
        "the kit of a shared block is for the buying account",
        "bot/services/running/kits.py",
        "user = self._account(record.order.consumer) if record and share else buyer",
        "user = buyer",
        _SERVICE,
    ),
    Mutant(
        "a share may leave the organization",
        _AWS,
        "allowExternalPrincipals=False",
        "allowExternalPrincipals=True",
        _ADAPTER,
    ),
    Mutant(
        "a share is made without looking for it",
        _AWS,
        "        if name is None:\n            name = self._make(order, arn, consumer)",
        "        name = self._make(order, arn, consumer)",
        _ADAPTER,
    ),
    Mutant(
        "a share carries a token that nothing decides",
        _AWS,
        "clientToken=share_token(order),",
        'clientToken="gpubot",',
        _ADAPTER,
    ),
    Mutant(
        "a share carries no tag of ours",
        _AWS,
        "            PURCHASE: order.purchase_id,\n            RESERVATION",
        "            RESERVATION",
        _ADAPTER,
    ),
    Mutant(
        "a throttle counts as a refusal",
        _AWS,
        "if refused.code in THROTTLES:",
        "if not THROTTLES:",
        _ADAPTER,
    ),
    Mutant(
        "half a share counts as whole",
        _AWS,
        "stands=stands,",
        "stands=True,",
        _ADAPTER,
    ),
    Mutant(
        "UltraServers are shared",
        _ACCOUNTS,
        "(Hindrance.ULTRASERVER if ultraserver else None)",
        "None",
        _POLICY,
    ),
    Mutant(
        "an account shares with everybody",
        _ACCOUNTS,
        "buyer is None or user.name not in buyer.shares_with",
        "buyer is None",
        _POLICY,
    ),
    Mutant(
        "two organizations count as one",
        _ACCOUNTS,
        "if buyer.organization != user.organization:",
        "if buyer.organization == user.name:",
        _POLICY,
    ),
    Mutant(
        "a team may name an account that is none",
        "bot/settings/config_file.py",
        "if team.account is not None and team.account not in known:",
        "if team.account is not None and not known:",
        _FILE,
    ),
    Mutant(
        "the card is silent about the other account",
        "handlers/cards/decision.py",
        "    if line is not None:\n        yield line\n",
        "",
        _CARDS,
    ),
    Mutant(
        "the simulated AWS shares UltraServers",
        "sandbox/aws/ram.py",
        "if reservation.ultraserver_type is not None:",
        "if reservation.ultraserver_type == reservation.id:",
        _SANDBOX,
    ),
    Mutant(
        "the simulated AWS lets everybody launch into a reservation",
        "sandbox/aws/ec2/reservations.py",
        "if place.account != call.account and share.holds",
        "if place.account != call.account or share.holds",
        _SANDBOX,
    ),
    Mutant(
        "idle GPUs are looked for where nobody runs machines",
        "bot/services/reservations/gpu_reading.py",
        "share.stage is ShareStage.STANDING",
        "share.stage is ShareStage.OVER",
        _SERVICE,
    ),
    Mutant(
        "the other account's machines hide the buyer's own",
        "bot/services/reservations/gpu_reading.py",
        "shares=tuple(sorted((*own.shares, *theirs.shares))),",
        "shares=theirs.shares,",
        _SERVICE,
    ),
    Mutant(
        "a platform that AWS does not know is taken",
        "bot/settings/config_file.py",
        "if account.platform not in platforms():",
        "if not account.platform:",
        _FILE,
    ),
    Mutant(
        "a Region that AWS does not have is taken",
        "bot/settings/config_file.py",
        "if name not in region_names():",
        "if not name:",
        _FILE,
    ),
    Mutant(
        "what may not be shared is explained as shared",
        "bot/policy/explaining.py",
        "if passage.way is Way.SHARED:",
        "if passage.way is not Way.UNSURE:",
        _POLICY,
    ),
    Mutant(
        "the doctor finds all sharing well",
        "bot/desk.py",
        "ready = passage.way is Way.SHARED",
        "ready = passage.buyer is not None",
        ("tests/unit/cli/test_doctor.py",),
    ),
    Mutant(
        "at one price it is bought where the team does not run",
        "bot/engine/ranking.py",
        "terms.prefers is not None and row.account != terms.prefers",
        "terms.prefers is not None and row.account == terms.prefers",
        ("tests/services/money/test_evidence.py",),
    ),
    Mutant(
        "a replay forgets which account was preferred",
        "bot/services/requests/quoting.py",
        "            prefers=self._home(reservation.team),\n            request=",
        "            request=",
        ("tests/services/money/test_evidence.py",),
    ),
    Mutant(
        "a record forgets who asked",
        "bot/services/requests/quoting.py",
        "            zone=reservation.zone,\n            requester=reservation.requester,\n",
        "            zone=reservation.zone,\n",
        ("tests/services/money/test_evidence.py",),
    ),
)
