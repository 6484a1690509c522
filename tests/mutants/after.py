"""One broken rule after the purchase at a time; its tests must turn red on each."""

from tests.mutants.run import Mutant

TESTS: tuple[str, ...] = ("tests/services/after",)

_LOOKING = "bot/services/reservations/looking.py"
_FOLLOWING = "bot/services/reservations/following.py"
_AGENDA = "bot/services/reservations/agenda.py"
_MILESTONES = "bot/services/reservations/milestones.py"
_REMINDING = "bot/services/reservations/reminding.py"
_QUIET = "bot/services/words/quiet.py"
_USING = "bot/services/reservations/using.py"
_IDLING = "bot/services/reservations/idling.py"
_REPORTING = "bot/services/reservations/reporting.py"
_TENDERING = "bot/services/reservations/tendering.py"
_EXTENDING = "bot/services/endings/extending.py"
_PROLONGING = "bot/services/endings/prolonging.py"
_PERMISSIONS = "bot/services/reservations/permissions.py"
_EXTENSIONS = "bot/services/reservations/extensions.py"
_RELEASING = "bot/services/endings/releasing.py"
_MOVING = "bot/services/endings/moving.py"
_HANDING = "bot/services/endings/handing.py"
_DIGESTING = "bot/services/digests/digesting.py"
_LINES = "bot/services/digests/digest_lines.py"
_DELIVERING = "bot/services/words/delivering.py"
_LAPSING = "bot/services/requests/lapsing.py"

_BATCHES = ("tests/services/after/test_batches.py",)
_FOLLOWS = ("tests/services/after/test_following.py",)
_REMINDS = ("tests/services/after/test_reminding.py", "tests/services/after/test_extending.py")
_IDLES = ("tests/services/after/test_idling.py",)
_EXTENDS = ("tests/services/after/test_extending.py",)
_RELEASES = ("tests/services/after/test_releasing.py",)
_DIGESTS = ("tests/services/after/test_digesting.py", "tests/services/after/test_digest_sizes.py")
_PROLONGS = ("tests/services/after/test_prolonging.py",)
_HEARD = "test_all_that_should_be_heard_is_heard_in_time_and_nothing_else[spring in memory]"
_LAPSES = ("tests/services/money/test_lapsing.py",)
_MONTH = (f"tests/system/month/test_month.py::{_HEARD}",)
_JOINS = ("tests/services/after/test_joined.py",)
_PROGRESS = "bot/services/reservations/progress.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a look may be planned for this very minute",
        _LOOKING,
        "return max(_grid(moment - MINUTE, MINUTE), _grid(now, MINUTE))",
        "return _grid(moment - MINUTE, MINUTE)",
        _BATCHES,
    ),
    Mutant(
        "the last usable minute is overslept",
        _LOOKING,
        "known = (segment.start + NO_SHOW, last_minute, segment.end)",
        "known = (segment.start + NO_SHOW,)",
        _BATCHES,
    ),
    Mutant(
        "a payment is looked at every two minutes for half a day",
        _LOOKING,
        "PAYING_LONG if slow and not near else PAYING",
        "PAYING",
        _BATCHES,
    ),
    Mutant(
        "times are compared as texts",
        _AGENDA,
        "if datetime.fromisoformat(at) <= now",
        "if at <= utc_text(now)",
        _BATCHES,
    ),
    Mutant(
        "ready is said before AWS says active",
        _MILESTONES,
        "if receipt.state in ACTIVE_WORDS:\n        words",
        "if receipt.state in ACTIVE_WORDS | WAITING_WORDS:\n        words",
        _FOLLOWS,
    ),
    Mutant(
        "a failed payment keeps its money",
        _FOLLOWING,
        "        tx.budget.free(budget_key(reservation.id, purchase.leg.number))\n",
        "",
        (*_FOLLOWS, *_EXTENDS),
    ),
    Mutant(
        "an extension counts as done while its payment is pending",
        _FOLLOWING,
        "if words <= PAID_WORDS:",
        "if words <= PAID_WORDS | PENDING_WORDS:",
        _EXTENDS,
    ),
    Mutant(
        "a time that has moved is reminded of",
        _REMINDING,
        '"the time has changed": about',
        '"the time has changed": about is None and about',
        _REMINDS,
    ),
    Mutant(
        "an outage leaves several reminders of one end",
        _REMINDING,
        '"a newer one is due": any(',
        '"a newer one is due": about is None and any(',
        _MONTH,
    ),
    Mutant(
        "what is offered to others is reminded of",
        _REMINDING,
        "            is not None,\n",
        "            == about,\n",
        _RELEASES,
    ),
    Mutant(
        "who lets it end hears on",
        _REMINDING,
        "and is_meant_to_end(tx, reservation, receipt),",
        "and not is_meant_to_end,",
        _EXTENDS,
    ),
    Mutant(
        "people are woken at night",
        _QUIET,
        "NIGHT_FROM = time(22)",
        "NIGHT_FROM = time(23, 59)",
        ("tests/services/after/test_quiet.py",),
    ),
    Mutant(
        "counts that were not read are believed",
        _IDLING,
        "if use is None or receipt.last_error or receipt.gone:",
        "if use is None or receipt.gone:",
        _IDLES,
    ),
    Mutant(
        "unseen hours count as used",
        _USING,
        "long = now - before.at > UNSEEN",
        "long = False",
        _IDLES,
    ),
    Mutant(
        "hours lost to illness are not counted",
        _USING,
        "before.lost + before.unhealthy * seconds",
        "before.lost",
        _IDLES,
    ),
    Mutant(
        "a new machine that is ill is told again and again",
        _IDLING,
        "if bad > use.unwell:",
        "if bad:",
        _IDLES,
    ),
    Mutant(
        "the channel hears of it before the owner had an hour",
        _IDLING,
        "at = use.told_at + RAISE_AFTER",
        "at = use.told_at",
        _IDLES,
    ),
    Mutant(
        "keeping it keeps nobody quiet",
        _IDLING,
        "or use.kept or use.raised:",
        "or use.raised:",
        _IDLES,
    ),
    Mutant(
        "use that goes up and down brings a word each time",
        _IDLING,
        "AGAIN_AFTER = timedelta(hours=6)",
        "AGAIN_AFTER = timedelta(0)",
        _IDLES,
    ),
    Mutant(
        "time that nobody could use counts as held",
        _USING,
        "start, last = usable(segment, lost_of(receipt))",
        "start, last = segment.start, segment.end",
        _IDLES,
    ),
    Mutant(
        "extensions are sold in the last hour",
        _TENDERING,
        "BUY_BEFORE_END = timedelta(hours=1)",
        "BUY_BEFORE_END = timedelta(minutes=1)",
        _EXTENDS,
    ),
    Mutant(
        "any length is on sale",
        _TENDERING,
        "    if rest or days < 1:\n        return False\n",
        "    if rest < 0:\n        return False\n",
        _EXTENDS,
    ),
    Mutant(
        "anybody may extend",
        _EXTENDING,
        "        check_concerned(parent, by, self.configuration)\n",
        "",
        _EXTENDS,
    ),
    Mutant(
        "the sum without asking counts only the last extension",
        _PERMISSIONS,
        "            total += proposal.ceiling\n",
        "            total = proposal.ceiling\n",
        _EXTENDS,
    ),
    Mutant(
        "one allows ahead what takes two",
        _PROLONGING,
        "if tier is not None and tier.needed > 1:",
        "if tier is None:",
        _EXTENDS,
    ),
    Mutant(
        "two extensions of the same thing are open at once",
        _EXTENSIONS,
        "if child.state in LIVE_RESERVATIONS",
        "if child.state is None",
        _EXTENDS,
    ),
    Mutant(
        "an extension whose offer is gone is quoted as a new block",
        _EXTENDING,
        "        if parent is None:\n            return self.quote_others",
        "        if parent is None or parent:\n            return self.quote_others",
        _EXTENDS,
    ),
    Mutant(
        "its approval outlives the time to buy it",
        _EXTENDING,
        "expires_at=min(expires_at, tender.until or expires_at),",
        "expires_at=expires_at,",
        _EXTENDS,
    ),
    Mutant(
        "a hold holds nobody off",
        _RELEASING,
        "if waiting is not None and held and by not in (waiting.requester, waiting.owner):",
        "if waiting is None and held:",
        _RELEASES,
    ),
    Mutant(
        "another region is as good",
        _RELEASING,
        "or (request.regions and receipt.region not in request.regions)",
        "or (request.regions and not receipt.region)",
        _RELEASES,
    ),
    Mutant(
        "who had their turn is asked again",
        _RELEASING,
        "if one.id not in offer.passed",
        "if one.id",
        _RELEASES,
    ),
    Mutant(
        "extensions that wait are offered machines",
        _RELEASING,
        "if parent_of(tx, waiting.id) is not None:",
        "if parent_of(tx, waiting.id) == 0:",
        _RELEASES,
    ),
    Mutant(
        "anybody may give it away",
        _MOVING,
        "if by not in (reservation.owner, *self.configuration.administrators):",
        "if by == reservation.line:",
        _RELEASES,
    ),
    Mutant(
        "the tags stay as they were",
        _MOVING,
        "        for one in tx.receipts.of(saved.id):\n",
        "        for one in ():\n",
        _RELEASES,
    ),
    Mutant(
        "a handover needs nobody's word",
        _HANDING,
        "if asked is None or asked.to != by:",
        "if asked is None:",
        _RELEASES,
    ),
    Mutant(
        "a former owner gives it away",
        _HANDING,
        "if asked.by not in (reservation.owner, *self.configuration.administrators):",
        "if asked.by == reservation.line:",
        _RELEASES,
    ),
    Mutant(
        "the digest lists all in full", _DIGESTING, "MOST_LINES = 10", "MOST_LINES = 900", _DIGESTS
    ),
    Mutant(
        "nothing is folded",
        _DIGESTING,
        "tx.facts.put(SHOWN, json.dumps(shown), at=now)",
        "tx.facts.put(SHOWN, json.dumps({}), at=now)",
        _DIGESTS,
    ),
    Mutant(
        "what AWS takes already counts as idle",
        _LINES,
        "or not runs or ending_now(receipt, books.now):",
        "or not runs:",
        _DIGESTS,
    ),
    Mutant(
        "the digest takes machines with idle GPUs for used",
        _LINES,
        "count = max(use.total - use.busy, 0)",
        "count = max(use.total - use.in_use, 0)",
        ("tests/services/after/test_gpu_idling.py",),
    ),
    Mutant(
        "the digest has no line for idle GPUs",
        _LINES,
        "not use.few_run(receipt.kind, below) and not use.few_work(below)",
        "not use.few_run(receipt.kind, below)",
        ("tests/services/after/test_gpu_idling.py",),
    ),
    Mutant(
        "a message is given up within the hour",
        _DELIVERING,
        "if old and outgoing.attempt >= GIVE_UP_AFTER:",
        "if outgoing.attempt >= GIVE_UP_AFTER:",
        _MONTH,
    ),
    Mutant(
        "each day may cost the whole permission",
        _PROLONGING,
        "tender.fee > left:",
        "tender.fee > permission.up_to:",
        _PROLONGS,
    ),
    Mutant(
        "extensions that were bought do not count against the permission",
        _PERMISSIONS,
        "total += proposal.ceiling",
        "total += 0",
        _PROLONGS,
    ),
    Mutant(
        "what was stopped while AWS was asked is bought all the same",
        "bot/services/approvals/proposing.py",
        "against = unless(tx) if unless is not None else None",
        "against = None",
        _PROLONGS,
    ),
    Mutant(
        "what was committed before it was stopped is bought",
        _EXTENDING,
        "if child.state not in BEFORE_PURCHASE:",
        "if child.state is not _S.QUOTED:",
        _PROLONGS,
    ),
    Mutant(
        "stopping takes a person's own extension back",
        _PERMISSIONS,
        "if value == str(child)), None)",
        "if value != str(child)), str(child))",
        _PROLONGS,
    ),
    Mutant(
        "a new permission plans nothing for an end that was tried",
        _PROLONGING,
        "now=now, anew=True)",
        "now=now)",
        _PROLONGS,
    ),
    Mutant(
        "what was stopped stays stopped under a new permission",
        _EXTENDING,
        "tx.facts.drop(name)",
        "tx.facts.get(name)",
        _PROLONGS,
    ),
    Mutant(
        "the last word that it is not extended is swallowed",
        _PROLONGING,
        'if again else f"not-prolonged:{this}:{attempt}"',
        'if again or attempt else ""',
        _PROLONGS,
    ),
    Mutant(
        "the slower of two workers says that nothing was extended",
        _EXTENDING,
        "if done is None or child.state in VOID:",
        "if done is None or child.id:",
        _PROLONGS,
    ),
    Mutant(
        "each permission plans one more extension",
        _PERMISSIONS,
        "kinds=(PROLONG,))",
        "kinds=())",
        _PROLONGS,
    ),
    Mutant(
        "a kill before it was told leaves it untold",
        _EXTENDING,
        "return done if child.state not in VOID else None",
        "return None",
        _PROLONGS,
    ),
    Mutant(
        "what was tidied away counts as extended",
        _EXTENDING,
        "child.state is _S.EXPIRED else child",
        "child.id < 0 else child",
        _PROLONGS,
    ),
    Mutant(
        "the ledger does not say who allowed an extension",
        "bot/services/approvals/proposing.py",
        "if allowed_by != POLICY:",
        'if allowed_by == "":',
        _PROLONGS,
    ),
    Mutant(
        "a press goes on under a permission of who owns it meanwhile",
        _EXTENDING,
        "if permission is None or permission.by in (reservation.owner, reservation.requester):",
        "if permission is None:",
        _EXTENDS,
    ),
    Mutant(
        "a press under the permission of somebody who left asks nobody",
        _EXTENDING,
        "return by if self.obstacle(by, parent, permission.up_to) is None else None",
        "return by",
        _EXTENDS,
    ),
    Mutant(
        "a press goes on under a permission that was stopped meanwhile",
        _EXTENDING,
        "proposal = self._open(child, draft, unless=changed, allowed_by=allowed_by)",
        "proposal = self._open(child, draft, allowed_by=allowed_by)",
        _EXTENDS,
    ),
    Mutant(
        "a repeated step extends twice",
        _EXTENDING,
        "tx.facts.put(once, str(child.id), at=now)",
        "pass",
        _PROLONGS,
    ),
    Mutant(
        "what is meant to end is extended",
        _PROLONGING,
        '"it is meant to end": is_meant_to_end(tx, parent, receipt),',
        '"it is meant to end": False,',
        _PROLONGS,
    ),
    Mutant(
        "somebody who left still allows",
        _PROLONGING,
        "        if obstacle is not None:\n            why",
        "        if False:\n            why",
        _PROLONGS,
    ),
    Mutant(
        "nobody has time to stop it",
        _PERMISSIONS,
        "at = max(prolong_at(receipt), now + NOTICE)",
        "at = max(prolong_at(receipt), now)",
        _PROLONGS,
    ),
    Mutant(
        "a join of which one part failed has failed as a whole",
        _LOOKING,
        "failed = all(receipt.state in FAILED_WORDS for receipt in receipts)",
        "failed = any(receipt.state in FAILED_WORDS for receipt in receipts)",
        _JOINS,
    ),
    Mutant(
        "what AWS forgets before it is paid ends like what ran",
        _LOOKING,
        "return _S.FAILED if failed or forgotten else _S.ENDED",
        "return _S.FAILED if failed else _S.ENDED",
        _JOINS,
    ),
    Mutant(
        "what ran while nobody looked can't end",
        _FOLLOWING,
        "if state is _S.ENDED and reservation.state is _S.PAYMENT_PENDING:",
        "if False:",
        _JOINS,
    ),
    Mutant(
        "of what AWS forgot it is said that I keep looking",
        _MILESTONES,
        "if receipt.gone or receipt.last_error or parent_of(",
        "if receipt.last_error or parent_of(",
        _JOINS,
    ),
    Mutant(
        "the report counts the hours of a part that was never paid",
        _REPORTING,
        "if one.kind in COUNTED and one.state not in FAILED_WORDS",
        "if one.kind in COUNTED",
        _JOINS,
    ),
    Mutant(
        "once it was active nothing more is ever said to be ready",
        _MILESTONES,
        "and segment.start <= before.checked_at < segment.end",
        "and before.checked_at < segment.end",
        _MONTH,
    ),
    Mutant(
        "one part of a join is extended by itself",
        _PERMISSIONS,
        "return parts[0] if len(parts) == 1 else None",
        "return parts[0] if parts else None",
        _PROLONGS,
    ),
    Mutant(
        "a quote is never forgotten",
        _LAPSING,
        "first = forgotten if end is None else min(forgotten, end)",
        "first = forgotten + timedelta(days=999) if end is None else min(forgotten, end)",
        _LAPSES,
    ),
    Mutant(
        "a quote outlives its time",
        _LAPSING,
        "return min(times, default=None)",
        "return None",
        _LAPSES,
    ),
    Mutant(
        "what a late search found is gone at once",
        _LAPSING,
        "return max(first, reservation.updated_at + LEAST)",
        "return first",
        _LAPSES,
    ),
    Mutant(
        "what is before approvers lapses",
        _LAPSING,
        "LAPSING = frozenset({ReservationState.QUOTED, ReservationState.BLOCKED})",
        "LAPSING = frozenset(set(ReservationState) - {ReservationState.EXPIRED})",
        _LAPSES,
    ),
    Mutant(
        "a quote that somebody turned to ends all the same",
        _LAPSING,
        "if now < due.at:",
        "if now < reservation.created_at:",
        _LAPSES,
    ),
    Mutant(
        "what is blocked stays for ever",
        "bot/services/purchases/settling.py",
        "if to is ReservationState.BLOCKED:",
        "if to is ReservationState.SHADOWED:",
        _LAPSES,
    ),
    Mutant(
        "a second extension is offered beside one that is asked for",
        _REMINDING,
        "tender = NOT_ASKED if asked is None else UNDER_WAY",
        "tender = NOT_ASKED",
        ("tests/services/after/test_reminded_extensions.py",),
    ),
)
