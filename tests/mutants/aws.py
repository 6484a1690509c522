"""One broken rule of the AWS room at a time; its tests must turn red on each."""

from tests.mutants.run import Mutant

TESTS: tuple[str, ...] = ("tests/unit/aws", "tests/contract/aws")

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a purchase is repeated by the SDK",
        "bot/aws/clients.py",
        '"total_max_attempts": 1',
        '"total_max_attempts": 3',
    ),
    Mutant(
        "an unknown code is a refusal",
        "bot/aws/errors.py",
        "RefusedError if code in NOTHING_BOUGHT else IndeterminateError",
        "RefusedError if code not in NOTHING_BOUGHT else RefusedError",
    ),
    Mutant(
        "not found after a doubt is a refusal",
        "bot/aws/errors.py",
        "    if after_doubt:\n",
        "    if after_doubt and not code:\n",
    ),
    Mutant(
        "any capacity status gives the price",
        "bot/aws/on_demand.py",
        'if _attribute(item, "capacitystatus") != "Used":',
        'if _attribute(item, "capacitystatus") == "No":',
    ),
    Mutant(
        "the oldest spot price is the price",
        "bot/aws/spot.py",
        "held.timestamp < row.timestamp",
        "held.timestamp > row.timestamp",
    ),
    Mutant(
        "scores are asked for one type alone",
        "bot/aws/spot.py",
        "others[: _FEWEST_TYPES - 1]",
        "others[:0]",
    ),
    Mutant(
        "the limit of scores is forgotten",
        "bot/aws/spot.py",
        "self._clock.now() - since < _LIMIT_REMEMBERED",
        "since is None",
    ),
    Mutant(
        "one unknown id spoils the batch",
        "bot/aws/holdings.py",
        "if not error.detail.startswith(_UNKNOWN_ID):",
        "if error.detail:",
    ),
    Mutant(
        "a failed plan is adopted",
        "bot/aws/training_plan_buyer.py",
        '(plan.status or "").lower() == "failed"',
        '(plan.status or "").lower() == "never"',
    ),
    Mutant(
        "a plan of somebody else is adopted",
        "bot/aws/training_plan_buyer.py",
        "if tags.get(PURCHASE) != purchase.id:",
        "if tags.get(PURCHASE) is None:",
    ),
    Mutant(
        "searches take the tokens of purchases",
        "bot/aws/rate.py",
        "floor=0.0 if spare else self._set_aside",
        "floor=0.0",
    ),
    Mutant(
        "a quota of zero is called a throttle",
        "bot/aws/capacity_blocks.py",
        "== 0:\n                raise",
        "== -1:\n                raise",
    ),
    Mutant(
        "a reservation takes any machine",
        "bot/aws/odcr_buyer.py",
        'InstanceMatchCriteria="targeted"',
        'InstanceMatchCriteria="open"',
    ),
    Mutant(
        "spot machines use the on-demand quota",
        "bot/aws/books.py",
        'if lifecycle == ("spot" if spot else "on-demand"):',
        "if lifecycle:",
    ),
    Mutant(
        "a quota of zero stops every type",
        "bot/aws/prepaid.py",
        '{"throttled", "refused", "unreachable"}',
        '{"throttled", "refused", "unreachable", "quota"}',
    ),
    Mutant(
        "a Local Zone is read nowhere",
        "bot/aws/market.py",
        "*(zone.parent for zone in zones if zone is not None)",
        "*()",
    ),
    Mutant(
        "one unread quota hides the others",
        "bot/aws/standing.py",
        "            answered[code] = limit.result()",
        "            answered[code] = limit.result() if not found.not_read else None",
    ),
    Mutant(
        "use is guessed where machines are not read",
        "bot/aws/standing.py",
        "        return None\n\n\ndef _answered",
        "        return RegionBooks((), ())\n\n\ndef _answered",
    ),
    Mutant(
        "a rehearsal buys",
        "bot/aws/rehearsal.py",
        "(DryRun=True, **parameters)",
        "(**parameters)",
    ),
    Mutant(
        "every proposal sends a dry run",
        "bot/aws/rehearsal.py",
        "            self._permitted[key] = self._clock.now()",
        "            pass",
    ),
    Mutant(
        "the first page of offerings is all of them",
        "bot/aws/calls.py",
        "        token = answer.get(following)\n",
        "        token = None\n",
    ),
    Mutant(
        "an empty answer is an empty listing",
        "bot/aws/calls.py",
        'and answer.keys() == {"ResponseMetadata"}:',
        "and not answer:",
    ),
    Mutant(
        "pages of offerings take no call",
        "bot/aws/capacity_blocks.py",
        "            before_each=take,\n",
        "",
    ),
)
