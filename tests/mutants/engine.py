"""One broken rule of the decision engine at a time; the engine's tests must turn red on each."""

from tests.mutants.run import Mutant

TESTS: tuple[str, ...] = ("tests/unit/engine",)

_TERMS = "bot/engine/terms.py"
_CANDIDATES = "bot/engine/candidates.py"
_ENDING = "bot/domain/ending.py"
_WINDOWS = "bot/engine/windows.py"
_REJECTS = "bot/engine/rejects.py"
_JUDGING = "bot/engine/judging.py"
_JOINS = "bot/engine/joins.py"
_COSTS = "bot/engine/costs.py"
_CERTAINTY = "bot/engine/certainty.py"
_RANKING = "bot/engine/ranking.py"
_WARNED = "bot/engine/warned.py"
_REASONS = "bot/engine/reasons.py"
_QUOTAS = "bot/engine/quotas.py"
_ADVISED = "bot/engine/advised.py"
_NEAR = "bot/engine/near.py"
_WORDS = "bot/engine/words.py"
_LINES = "bot/engine/lines.py"
_DIGEST = "bot/engine/digest.py"
_DECIDING = "bot/engine/deciding.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "more GPUs than asked are not told",
        _WARNED,
        "    if held <= asked:",
        "    if held <= 2 * asked:",
    ),
    Mutant(
        "GPUs are told of that nobody counted",
        _WARNED,
        "    if asked is None or kind is None or row.ultraserver:\n        return None",
        "    if kind is None or row.ultraserver:\n        return None\n    asked = asked or 1",
    ),
    Mutant(
        "owned capacity needs an allowed kind",
        _REJECTS,
        "if kind is not Kind.OWNED and kind not in case.terms.rules.kinds:",
        "if kind not in case.terms.rules.kinds:",
    ),
    Mutant(
        "every kind is enabled",
        _REJECTS,
        'f"The configuration does not allow {kind.value}."',
        "None",
    ),
    Mutant(
        "any region is allowed",
        _REJECTS,
        "if asked and row.region not in asked and row.zone not in asked:",
        "if asked and row.region not in asked and row.zone in asked:",
    ),
    Mutant(
        "an account without regions has them all",
        _REJECTS,
        "row.region not in rules.regions.get(row.account, ())",
        "row.region not in rules.regions.get(row.account, (row.region,))",
    ),
    Mutant(
        "a plan serves any target",
        _REJECTS,
        "        if case.terms.sagemaker and target.value in row.targets:\n            return None",
        "        return None",
    ),
    Mutant("branches mix", _REJECTS, "if is_ml is not case.terms.sagemaker:", "if False:"),
    Mutant(
        "spot serves every SageMaker target",
        _REJECTS,
        "row.kind is Kind.SPOT and target is not Target.TRAINING_JOB",
        "row.kind is Kind.SPOT and target is Target.EC2",
    ),
    Mutant(
        "SageMaker sells ODCRs",
        _REJECTS,
        "if is_ml and row.origin in (Kind.ODCR, Kind.CAPACITY_BLOCK):",
        "if is_ml and row.origin is Kind.CAPACITY_BLOCK:",
    ),
    Mutant("zones need no opt-in", _REJECTS, "if not case.candidate.opted_in:", "if False:"),
    Mutant(
        "any currency is dollars",
        _REJECTS,
        'if row.currency != "USD" and not (',
        "if False and not (",
    ),
    Mutant(
        "zero is a price",
        _REJECTS,
        "(row.price is None or row.price < CENT)",
        "(row.price is None or row.price < 0)",
    ),
    Mutant(
        "fewer machines fit",
        _REJECTS,
        "if row.holds < least or row.machines == 0:",
        "if row.machines == 0:",
    ),
    Mutant(
        "no machine is a machine",
        _REJECTS,
        "if row.holds < least or row.machines == 0:",
        "if row.holds < least and row.machines:",
    ),
    Mutant(
        "the minimum is ignored",
        _TERMS,
        "return asked if minimum is None else min(minimum, asked)",
        "return asked if minimum is None else max(minimum, asked)",
    ),
    Mutant(
        "larger offerings always fit",
        _REJECTS,
        "if row.asked is not None and row.holds > row.asked:",
        "if row.asked is None:",
    ),
    Mutant(
        "larger offerings never fit",
        _JUDGING,
        "return row.asked is not None and row.holds <= row.asked * limit",
        "return False",
    ),
    Mutant(
        "larger offerings fit beside others",
        _JUDGING,
        "and bench.cases[place].candidate.kind not in fitting_kinds",
        "and fitting_kinds is not None",
    ),
    Mutant(
        "an oversize limit of any size",
        _JUDGING,
        "row.holds <= row.asked * limit",
        "row.holds <= row.asked * limit * 2",
    ),
    Mutant(
        "clusters cannot pause",
        _REJECTS,
        "if terms.target in (Target.TRAINING_JOB, Target.HYPERPOD):",
        "if terms.target is Target.TRAINING_JOB:",
    ),
    Mutant(
        "interruptible endpoints can pause",
        _REJECTS,
        "if terms.target is Target.EC2 and terms.request.interruptible:",
        "if terms.request.interruptible:",
    ),
    Mutant(
        "silence allows a pause",
        _REJECTS,
        "if terms.target is Target.EC2 and terms.request.interruptible:",
        "if terms.target is Target.EC2 and terms.request.interruptible is not False:",
    ),
    Mutant(
        "payments take no time",
        _REJECTS,
        "and case.stay.start < soonest:",
        "and case.stay.start < case.terms.now:",
    ),
    Mutant(
        "the payment margin is exclusive",
        _REJECTS,
        "and case.stay.start < soonest:",
        "and case.stay.start <= soonest:",
    ),
    Mutant(
        "owned capacity waits for a payment",
        _REJECTS,
        "if case.candidate.prepaid and case.stay is not None",
        "if not case.candidate.hourly and case.stay is not None",
    ),
    Mutant("late starts fit", _REJECTS, "if begin > latest or (", "if ("),
    Mutant(
        "the end of a day is in the day",
        _REJECTS,
        "(begin == latest and case.terms.start_ends_a_day)",
        "False",
    ),
    Mutant(
        "days end in UTC",
        _TERMS,
        "    local = zone_of(zone)",
        '    local = zone_of(zone and "UTC")',
    ),
    Mutant(
        "no start is too early",
        _REJECTS,
        "if whole_is_enough(stay, terms) and not rest_is_enough(stay, terms):",
        "if not whole_is_enough(stay, terms) and rest_is_enough(stay, terms):",
    ),
    Mutant(
        "an unstated start can be too early",
        _REJECTS,
        "if stay is None or terms.request.earliest_start is None:",
        "if stay is None:",
    ),
    Mutant(
        "deadlines are ignored",
        _REJECTS,
        "and case.stay.use_end > latest:",
        "and case.stay.begin > latest:",
    ),
    Mutant(
        "use runs past the usable end",
        _WINDOWS,
        "use_end=usable_end if use_end is None else use_end,",
        "use_end=begin + terms.asked if use_end is None else use_end,",
    ),
    Mutant(
        "short windows fit",
        _REJECTS,
        "    if not rest_is_enough(stay, terms):\n        left",
        "    if False:\n        left",
    ),
    Mutant(
        "silence allows spot",
        _REJECTS,
        "if case.candidate.kind is Kind.SPOT and not case.terms.request.interruptible:",
        "if case.candidate.kind is Kind.SPOT and case.terms.request.interruptible is False:",
    ),
    Mutant(
        "on-demand is guaranteed",
        _REJECTS,
        "case.candidate.kind in (Kind.ON_DEMAND, Kind.SPOT)",
        "case.candidate.kind is Kind.SPOT",
    ),
    Mutant(
        "a deadline needs no certainty",
        _TERMS,
        "certain=request.latest_start is not None or request.latest_end is not None",
        "certain=request.latest_start is not None",
    ),
    Mutant(
        "the unguaranteed never stay",
        _JUDGING,
        'bench.again(bench.places("not_guaranteed"), _NOT_GUARANTEED)',
        "return",
    ),
    Mutant(
        "the unguaranteed stay beside surer options",
        _JUDGING,
        "or bench.terms.beyond_horizon or bench.options():",
        "or bench.terms.beyond_horizon:",
    ),
    Mutant(
        "the unguaranteed stay beyond the horizon",
        _JUDGING,
        "or bench.terms.beyond_horizon or bench.options():",
        "or bench.options():",
    ),
    Mutant(
        "the horizon is inclusive",
        _TERMS,
        "start > self.now + BOOKING_HORIZON",
        "start >= self.now + BOOKING_HORIZON",
    ),
    Mutant(
        "refusals are forgotten",
        _REJECTS,
        "refused_within(row, terms.rules.refusal_memory, terms.now)",
        "row.refused_at > terms.now",
    ),
    Mutant(
        "a refusal counts for under six hours",
        _CERTAINTY,
        "now - candidate.refused_at <= age",
        "now - candidate.refused_at < age",
    ),
    Mutant(
        "quotas are ignored",
        _REJECTS,
        "return case.quotas.too_small(case.candidate)",
        "return None",
    ),
    Mutant(
        "quotas count machines only",
        _QUOTAS,
        "candidate.machines * known.vcpus",
        "candidate.machines",
    ),
    Mutant(
        "used quota is free", _QUOTAS, "if need > quota.limit - used:", "if need > quota.limit:"
    ),
    Mutant(
        "quotas hold for every kind", _QUOTAS, "candidate.kind in quota.kinds\n        and ", ""
    ),
    Mutant(
        "quotas hold for every account",
        _QUOTAS,
        "candidate.account == quota.account",
        "candidate.account",
    ),
    Mutant(
        "quotas hold for every region",
        _QUOTAS,
        "candidate.region == quota.region",
        "candidate.region",
    ),
    Mutant("unknown use is a yes", _QUOTAS, "            and quota.used is not None\n", ""),
    Mutant(
        "the hourly cap is ignored",
        _REJECTS,
        "    if hourly > Fraction(cap):",
        "    if hourly > Fraction(cap) * 1000:",
    ),
    Mutant(
        "the budget is ignored",
        _REJECTS,
        "    if amount > budget:",
        "    if amount > budget * 1000:",
    ),
    Mutant(
        "the budget is exclusive", _REJECTS, "    if amount > budget:", "    if amount >= budget:"
    ),
    Mutant(
        "ODCRs are held for weeks",
        _REJECTS,
        "if idle > case.terms.rules.hold_limit:",
        "if idle > case.terms.rules.hold_limit * 99:",
    ),
    Mutant(
        "a day's hold is too long",
        _REJECTS,
        "if idle > case.terms.rules.hold_limit:",
        "if idle >= case.terms.rules.hold_limit:",
    ),
    Mutant(
        "quota comes after the caps",
        _REJECTS,
        '    ("quota", quota),\n    ("over_hourly_cap", over_hourly_cap),',
        '    ("over_hourly_cap", over_hourly_cap),\n    ("quota", quota),',
    ),
    Mutant(
        "type comes before target",
        _REJECTS,
        '    ("wrong_target", wrong_target),\n    ("wrong_type", wrong_type),',
        '    ("wrong_type", wrong_type),\n    ("wrong_target", wrong_target),',
    ),
    Mutant(
        "short comes before late",
        _REJECTS,
        '    ("ends_too_late", ends_too_late),\n    ("too_short", too_short),',
        '    ("too_short", too_short),\n    ("ends_too_late", ends_too_late),',
    ),
    Mutant(
        "UltraServers lose half an hour",
        _ENDING,
        'return HOUR if ultraserver or instance_type.startswith("u-") else HALF_HOUR',
        "return HALF_HOUR",
    ),
    Mutant(
        "owned UltraServers lose half an hour",
        _CANDIDATES,
        'name.startswith("u-") or (known is not None and known.ultraserver is not None)',
        "False",
    ),
    Mutant(
        "clusters lose half an hour",
        _ENDING,
        "return HOUR if large or target == Target.HYPERPOD else HALF_HOUR",
        "return HOUR if large else HALF_HOUR",
    ),
    Mutant(
        "plans of UltraServers lose half an hour",
        _ENDING,
        "return HOUR if large or target == Target.HYPERPOD else HALF_HOUR",
        "return HOUR if target == Target.HYPERPOD else HALF_HOUR",
    ),
    Mutant(
        "only the last part loses its tail",
        _WINDOWS,
        "        last = closes - lost\n",
        "        last = closes if (opens, closes) != window[-1] else closes - lost\n",
    ),
    Mutant(
        "no time is too short by a tenth",
        _TERMS,
        "needed=asked - _slack(asked, rules) if by_reserved else asked,",
        "needed=asked,",
    ),
    Mutant(
        "the tenth has no limit",
        _TERMS,
        "return min(timedelta(microseconds=int(share)), rules.short_limit)",
        "return timedelta(microseconds=int(share))",
    ),
    Mutant(
        "at least means about",
        _TERMS,
        "by_reserved = asked % _DAY == timedelta() and not request.strict",
        "by_reserved = asked % _DAY == timedelta()",
    ),
    Mutant(
        "hours are measured as days",
        _TERMS,
        "by_reserved = asked % _DAY == timedelta() and not request.strict",
        "by_reserved = not request.strict",
    ),
    Mutant(
        "what is left counts from the window's start",
        _WINDOWS,
        "        left_from = max(opens, begin)\n",
        "        left_from = opens\n",
    ),
    Mutant(
        "joins take any place",
        _CANDIDATES,
        "(self.kind, self.account, self.region, self.zone, self.instance_type, self.window)",
        "(self.kind, self.account, self.region, self.instance_type, self.window)",
    ),
    Mutant(
        "joins take any account",
        _CANDIDATES,
        "(self.kind, self.account, self.region, self.zone, self.instance_type, self.window)",
        "(self.kind, self.region, self.zone, self.instance_type, self.window)",
    ),
    Mutant(
        "joins take any window",
        _CANDIDATES,
        "(self.kind, self.account, self.region, self.zone, self.instance_type, self.window)",
        "(self.kind, self.account, self.region, self.zone, self.instance_type)",
    ),
    Mutant(
        "jobs take several plans",
        _JUDGING,
        "if terms.target in (Target.EC2, Target.HYPERPOD):",
        "if terms.target:",
    ),
    Mutant(
        "clusters take one plan",
        _JUDGING,
        "if terms.target in (Target.EC2, Target.HYPERPOD):",
        "if terms.target is Target.EC2:",
    ),
    Mutant(
        "joins stand beside what fits alone",
        _JUDGING,
        "if key not in served and len(places) > 1:",
        "if len(places) > 1:",
    ),
    Mutant(
        "joins are not judged",
        _JUDGING,
        "    if first_fault(whole) is not None:\n        return\n",
        "",
    ),
    Mutant(
        "every smaller offering is joined elsewhere",
        _JUDGING,
        "if leg.place not in bench.taken and leg.count in part:",
        "if leg.place not in bench.taken:",
    ),
    Mutant(
        "the dearest legs are joined",
        _JOINS,
        "return fresh[0] < rival[0]",
        "return fresh[0] > rival[0]",
    ),
    Mutant(
        "ties in joins fall by chance",
        _JOINS,
        "return _refs(fresh[1], layers) < _refs(rival[1], layers)",
        "return True",
    ),
    Mutant(
        "an ODCR bills for its use only",
        _COSTS,
        "exact_hours(stay.use_end - terms.now)",
        "exact_hours(terms.asked)",
    ),
    Mutant(
        "idle hours are billed on demand",
        _COSTS,
        "price * candidate.machines * exact_hours(terms.asked) * terms.utilization",
        "price * candidate.machines * exact_hours(terms.asked)",
    ),
    Mutant(
        "totals are not rounded",
        _COSTS,
        "return half_up(exact_total(candidate, stay, terms), 2)",
        "return half_up(exact_total(candidate, stay, terms), 6)",
    ),
    Mutant(
        "fees are rounded",
        _COSTS,
        "        return candidate.price\n",
        "        return half_up(Fraction(candidate.price), 2)\n",
    ),
    Mutant(
        "a third is 0.3333",
        _TERMS,
        "            return exact\n",
        "            return Fraction(share)\n",
    ),
    Mutant(
        "rates are per usable hour",
        _COSTS,
        "reserved = stay.reserved // MICROSECOND * candidate.machines",
        "reserved = stay.usable // MICROSECOND * candidate.machines",
    ),
    Mutant(
        "the ratio is over any on-demand rate",
        _COSTS,
        "                key = (row.account, row.region, row.instance_type)\n",
        '                key = ("research", "us-east-1", row.instance_type)\n',
    ),
    Mutant(
        "break-even is held against every hour",
        _WINDOWS,
        "reserved // MICROSECOND * of",
        "terms.asked // MICROSECOND * of",
    ),
    Mutant("six is likely", _CERTAINTY, "LIKELY_SCORE = 7", "LIKELY_SCORE = 6"),
    Mutant("three is not low", _CERTAINTY, "LOW_SCORE = 3", "LOW_SCORE = 2"),
    Mutant(
        "a refusal leaves no doubt",
        _CERTAINTY,
        "return Certainty.UNCERTAIN if doubt else Certainty.LIKELY",
        "return Certainty.LIKELY",
    ),
    Mutant("fewer machines rank as full", _RANKING, "        option.fewer,\n", ""),
    Mutant(
        "late options rank by cost",
        _RANKING,
        "        starts_later(option.stay.begin, terms),\n",
        "",
    ),
    Mutant(
        "spot ranks before on-demand",
        _RANKING,
        "        terms.certain and row.kind is Kind.SPOT,\n",
        "",
    ),
    Mutant(
        "class never ranks",
        _RANKING,
        "CLASSES.index(option.certainty) if terms.certain else 0,",
        "0,",
    ),
    Mutant(
        "class always ranks",
        _RANKING,
        "CLASSES.index(option.certainty) if terms.certain else 0,",
        "CLASSES.index(option.certainty),",
    ),
    Mutant(
        "commitment costs nothing",
        _RANKING,
        "        amount *= raised_by(premium(option.candidate, terms))\n",
        "        amount *= 1\n",
    ),
    Mutant(
        "short windows are not scaled",
        _RANKING,
        "    if left < terms.asked:\n",
        "    if not left:\n",
    ),
    Mutant(
        "more machines cost no more",
        _RANKING,
        "if terms.several_types and option.candidate.machines > least:",
        "if False:",
    ),
    Mutant(
        "more machines cost more for a named type",
        _RANKING,
        "if terms.several_types and option.candidate.machines > least:",
        "if option.candidate.machines > least:",
    ),
    Mutant(
        "patience has no end",
        _RANKING,
        "return begin > earliest + terms.rules.patience",
        "return begin > earliest + terms.rules.patience * 99",
    ),
    Mutant(
        "asap waits",
        _RANKING,
        "return begin > terms.now + terms.rules.asap_window",
        "return begin > terms.now + terms.rules.asap_window * 9",
    ),
    Mutant(
        "deadlines have patience", _RANKING, "    if terms.certain:\n        return False\n", ""
    ),
    Mutant(
        "later beginnings win ties",
        _RANKING,
        "        option.stay.begin,\n        len(row.refs),\n",
        "        len(row.refs),\n",
    ),
    Mutant(
        "more purchases win ties", _RANKING, "        len(row.refs),\n", "        -len(row.refs),\n"
    ),
    Mutant(
        "more machines win ties", _RANKING, "        row.machines,\n", "        -row.machines,\n"
    ),
    Mutant("kinds tie", _RANKING, "        KINDS.index(row.kind),\n", ""),
    Mutant("accounts tie", _RANKING, "        row.account,\n", ""),
    Mutant("regions tie", _RANKING, "        row.region,\n", ""),
    Mutant("zones tie", _RANKING, '        row.zone or "",\n', ""),
    Mutant("owners are not asked", _WARNED, "owner != terms.requester", "owner == terms.requester"),
    Mutant(
        "longer windows are not said",
        _WARNED,
        "option.stay.reserved > terms.asked",
        "option.stay.reserved_left > terms.asked",
    ),
    Mutant(
        "stale prices are fresh",
        _WARNED,
        "terms.now - row.as_of > PRICE_LIFE",
        "terms.now - row.as_of > PRICE_LIFE * 9",
    ),
    Mutant(
        "local zones are not said", _WARNED, '_LOCAL_ZONE = "local-zone"', '_LOCAL_ZONE = "local"'
    ),
    Mutant(
        "unknown quotas are not said",
        _WARNED,
        "and not quotas.known(option.candidate)",
        "and quotas.known(option.candidate)",
    ),
    Mutant("any end is 11:30", _WARNED, "and end.time() == _BLOCKS_END", "and end"),
    Mutant(
        "the last minute is the window's",
        _WINDOWS,
        "usable_end = window[-1][1] - lost",
        "usable_end = window[-1][1]",
    ),
    Mutant(
        "the dearest is cheapest",
        _REASONS,
        "elif option.exact == best.total:",
        "elif option.exact != best.total:",
    ),
    Mutant(
        "large requests are ordinary",
        _ADVISED,
        "if count < terms.rules.large_request_instances:",
        "if count <= terms.rules.large_request_instances:",
    ),
    Mutant(
        "three weeks are always left",
        _ADVISED,
        "if start - terms.now < ACCOUNT_TEAM_LEAD:",
        "if start < terms.now:",
    ),
    Mutant(
        "spot is advised to those who said no",
        _ADVISED,
        "if request.interruptible is not None:",
        "if request.interruptible:",
    ),
    Mutant(
        "spot is advised at any price",
        _ADVISED,
        "if rival is None or rival.candidate.kind is not Kind.SPOT:",
        "if rival is None:",
    ),
    Mutant(
        "quotas are asked for though something fits",
        _ADVISED,
        "    if judged.pick is None:\n        found.extend(_ask_quota",
        "    if judged:\n        found.extend(_ask_quota",
    ),
    Mutant(
        "unread quotas are not asked for",
        _ADVISED,
        'if missing.why == "quota"',
        'if missing.why == "none"',
    ),
    Mutant(
        "the quota is asked without what is used",
        _ADVISED,
        "to {used + need} {quota.unit}",
        "to {need} {quota.unit}",
    ),
    Mutant("nothing is watched", _ADVISED, "        found.append(WATCH)\n", ""),
    Mutant("g6 is sold by SageMaker", _ADVISED, 'startswith("g6.")', 'startswith("g7.")'),
    Mutant(
        "a dearer block is another time",
        _ADVISED,
        "and row.price < pick.total",
        "and row.price <= pick.total",
    ),
    Mutant(
        "near misses need no answer",
        _NEAR,
        "        if pick is None:\n            return None\n        line",
        "        line",
    ),
    Mutant(
        "the farthest day is nearest",
        _NEAR,
        "abs(option.stay.begin - wanted)",
        "-abs(option.stay.begin - wanted)",
    ),
    Mutant(
        "lines lose their budget",
        _LINES,
        "    if request.max_total_usd is not None:\n",
        "    if request.max_total_usd is None and request.max_total_usd:\n",
    ),
    Mutant(
        "the digest follows the order of rows",
        _DIGEST,
        "*sorted(row.model_dump_json() for row in rows)",
        "*(row.model_dump_json() for row in rows)",
    ),
    Mutant(
        "the digest forgets the rules",
        _DIGEST,
        'json.dumps(rules.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)',
        '""',
    ),
    Mutant(
        "rejections follow the order of rows",
        _DECIDING,
        "sorted(judged.rejected, key=_rejected_order)",
        "list(judged.rejected)",
    ),
    Mutant(
        "what was not read is dropped",
        _DECIDING,
        "not_read=tuple(sorted(market.not_read, key=_not_read_order)),",
        "not_read=(),",
    ),
    Mutant(
        "hours are cut before they divide",
        _WORDS,
        "return Fraction(length // MICROSECOND, MICROSECONDS_AN_HOUR)",
        "return Fraction(hours(length))",
    ),
    Mutant(
        "UltraServers without a count are one",
        _CANDIDATES,
        "return int(row.instance_count * inner.accelerators // whole.accelerators)",
        "return 1",
    ),
    Mutant(
        "fewer machines mend no quota",
        _NEAR,
        '_COUNT_FAULTS = frozenset({"too_few_instances", "quota", "over_budget"})',
        '_COUNT_FAULTS = frozenset({"too_few_instances", "over_budget"})',
    ),
    Mutant(
        "fewer machines mend no budget",
        _NEAR,
        '_COUNT_FAULTS = frozenset({"too_few_instances", "quota", "over_budget"})',
        '_COUNT_FAULTS = frozenset({"too_few_instances", "quota"})',
    ),
    Mutant(
        "fewer machines mend no smaller row",
        _NEAR,
        '_COUNT_FAULTS = frozenset({"too_few_instances", "quota", "over_budget"})',
        '_COUNT_FAULTS = frozenset({"quota", "over_budget"})',
    ),
    Mutant(
        "another region mends nothing",
        _NEAR,
        '(_other_region, frozenset({"region_not_allowed"}))',
        "(_other_region, frozenset())",
    ),
    Mutant(
        "another type mends nothing",
        _NEAR,
        '(_other_type, frozenset({"wrong_type"}))',
        "(_other_type, frozenset())",
    ),
    Mutant(
        "another time does not mend too_few_instances",
        _NEAR,
        '        "too_few_instances",\n        "starts_too_late",\n',
        '        "starts_too_late",\n',
    ),
    Mutant(
        "another time does not mend starts_too_late",
        _NEAR,
        '        "starts_too_late",\n',
        "",
    ),
    Mutant(
        "another time does not mend starts_too_early",
        _NEAR,
        '        "starts_too_early",\n',
        "",
    ),
    Mutant(
        "another time does not mend ends_too_late",
        _NEAR,
        '        "ends_too_late",\n',
        "",
    ),
    Mutant(
        "a longer block needs no tail",
        _NEAR,
        "lost = timedelta() if terms.by_reserved_hours else max(tails)",
        "lost = timedelta()",
    ),
    Mutant(
        "another time does not mend not_guaranteed",
        _NEAR,
        '        "not_guaranteed",\n        "over_budget",\n        "hold_too_long",\n',
        '        "over_budget",\n        "hold_too_long",\n',
    ),
    Mutant(
        "another time does not mend over_budget",
        _NEAR,
        '        "over_budget",\n        "hold_too_long",\n',
        '        "hold_too_long",\n',
    ),
    Mutant(
        "another time does not mend hold_too_long",
        _NEAR,
        '        "hold_too_long",\n',
        "",
    ),
    Mutant(
        "a crossing window asks for one day",
        "bot/engine/spans.py",
        "hours = _hours(stop - start, plans=plans)",
        "hours = _hours(length, plans=plans)",
    ),
    Mutant(
        "parts are asked where there is no machine",
        "bot/engine/counts.py",
        "        return bool(found)\n",
        "        return True\n",
    ),
    *(
        Mutant(
            f"options share warnings whatever their {field} is",
            _WARNED,
            f"        row.{field},\n",
            "",
            ("tests/unit/engine/test_warnings.py",),
        )
        for field in ("owner", "score", "refused_at", "as_of", "zone_type", "account", "region")
    ),
    Mutant(
        "options share warnings whatever their window is",
        _WARNED,
        "        option.stay.window,\n",
        "",
        ("tests/unit/engine/test_warnings.py",),
    ),
    Mutant(
        "options share warnings on either side of the break-even",
        _WARNED,
        "key = (_looked_at(option), option.versus if option.below else None)",
        "key = (_looked_at(option), None)",
        ("tests/unit/engine/test_warnings.py",),
    ),
    Mutant(
        "any day is a named one",
        _LINES,
        "    return midnights and closes.date() - opens.date() == timedelta(days=1)",
        "    return True",
        ("tests/unit/engine/test_advice.py",),
    ),
    Mutant(
        "lines lose their seconds",
        _LINES,
        "    if instant.second or instant.microsecond:\n        return utc_text(instant)\n",
        "",
        ("tests/unit/engine/test_advice.py",),
    ),
    Mutant(
        "a start that has passed is sent again",
        _NEAR,
        "if start is not None and start < self.terms.now:",
        "if start is None:",
        ("tests/unit/engine/test_advice.py",),
    ),
    Mutant(
        "parts of UltraServers are advised",
        _NEAR,
        "is not None and not _is_sold_in_a_whole(kind)",
        "is not None",
        ("tests/unit/engine/test_advice.py",),
    ),
    Mutant(
        "an owned block without an end never ends",
        _CANDIDATES,
        "    if row.kind in PREPAID:\n        return ()\n    begin",
        "    begin",
        ("tests/unit/engine/test_fit.py",),
    ),
    Mutant(
        "a latest start at 11:30 UTC ends a day",
        _TERMS,
        " or latest.time() == _NEVER_MIDNIGHT",
        "",
        ("tests/unit/engine/test_fit.py",),
    ),
)
