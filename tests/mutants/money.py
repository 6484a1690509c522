"""One broken guard of the money path at a time; the money tests must turn red on each."""

from tests.mutants.run import Mutant

TESTS: tuple[str, ...] = ("tests/unit/policy", "tests/services/money")

_PERMITTING = "bot/policy/permitting.py"
_CEILINGS = "bot/policy/ceilings.py"
_TIERS = "bot/policy/tiers.py"
_REQUOTING = "bot/services/commitments/requoting.py"
_DRAFTING = "bot/services/commitments/drafting.py"
_BUDGETING = "bot/services/commitments/budgeting.py"
_APPROVING = "bot/services/approvals/approving.py"
_PROPOSING = "bot/services/approvals/proposing.py"
_COMMITTING = "bot/services/commitments/committing.py"
_WAITING = "bot/services/approvals/waiting.py"
_SPENDING = "bot/services/commitments/spending.py"
_PURCHASING = "bot/services/purchases/purchasing.py"
_SETTLING = "bot/services/purchases/settling.py"
_RECONCILING = "bot/services/purchases/reconciling.py"
_ASKING = "bot/services/requests/asking.py"
_LENDING = "bot/services/purchases/lending.py"
_SWITCHING = "bot/services/requests/switching.py"
_ENTITLING = "bot/services/commitments/entitling.py"
_PLEADING = "bot/services/words/pleading.py"
_DELEGATING = "bot/policy/delegating.py"
_WALKING = "bot/services/commitments/walking.py"
_OVERSTAYING = "bot/services/reservations/overstaying.py"
_DECLARING = "bot/services/purchases/declaring.py"
_COMPARING = "bot/services/purchases/comparing.py"
_FOLLOWING = "bot/services/reservations/following.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "what a full disk did not take waits for its lease",
        "bot/services/duties.py",
        "self.owed[due.key] = (",
        "_ = (",
        tests=("tests/services/after/test_duties.py",),
    ),
    Mutant(
        "what is somebody else's row by now is given back",
        "bot/services/duties.py",
        "if now < until:",
        "if now < until or until:",
        tests=("tests/services/after/test_duties.py",),
    ),
    Mutant(
        "what is younger than thirty days is forgotten",
        "bot/services/pruning.py",
        "before = now - KEEP",
        "before = now + KEEP",
        tests=("tests/services/money/test_forgetting.py",),
    ),
    Mutant(
        "the deactivated decide", _PERMITTING, "if not person.active or person.bot:", "if False:"
    ),
    Mutant("strangers from outside decide", _PERMITTING, "if person.external:", "if False:"),
    Mutant(
        "doubt about who it is counts as yes",
        _PERMITTING,
        "return Obstacle.UNVERIFIED",
        "return None",
    ),
    Mutant("anybody approves", _PERMITTING, "if not standing.among(approvers):", "if False:"),
    Mutant(
        "people approve for themselves",
        _PERMITTING,
        "if standing.user in (requester, owner):",
        "if False:",
    ),
    Mutant("the owner approves", _PERMITTING, "in (requester, owner):", "in (requester,):"),
    Mutant(
        "the tier's limit itself is too much",
        _TIERS,
        "total <= tier.up_to_usd",
        "total < tier.up_to_usd",
    ),
    Mutant("freed money still counts", _CEILINGS, 'if entry.state != "freed"', "if entry"),
    Mutant(
        "the day has no ceiling",
        _CEILINGS,
        "    if limit is None:\n        return None\n    left = limit - today",
        "    if limit is not None or limit is None:\n        return None\n    left = limit - today",
    ),
    Mutant(
        "a team has no budget",
        _CEILINGS,
        "if team is None or limit is None:",
        "if team is None or limit is not None:",
    ),
    Mutant("a dearer offer is bought", _REQUOTING, "if fee <= leg.fee]", "if fee]"),
    Mutant(
        "another zone is the same",
        _REQUOTING,
        "(offer.kind, offer.account, offer.region, offer.zone)\n        == (leg.kind, leg.account, leg.region, leg.zone)",
        "(offer.kind, offer.account, offer.region)\n        == (leg.kind, leg.account, leg.region)",
    ),
    Mutant("another currency is the same", _REQUOTING, 'and offer.currency == "USD"', "and True"),
    Mutant(
        "another end is the same",
        _REQUOTING,
        "(new.end, new.zone) == (old.end, old.zone)",
        "new.zone == old.zone",
    ),
    Mutant(
        "any start is the same",
        _REQUOTING,
        "if not timedelta(0) <= new - old <= configuration.limits.start_drift:",
        "if False:",
    ),
    Mutant(
        "a start too near to pay is bought",
        _REQUOTING,
        "if new < now + configuration.decision.payment_margin:",
        "if False:",
    ),
    Mutant(
        "a later start eats into the hours",
        _REQUOTING,
        ">= (request.duration_hours or Decimal(0))",
        ">= Decimal(0)",
    ),
    Mutant(
        "an asap window is not moved",
        _REQUOTING,
        "moved = Segment(start=now, end=end, zone=planned.zone)",
        "moved = planned",
    ),
    Mutant(
        "an asap window is shortened",
        _REQUOTING,
        "Segment(start=now, end=end,",
        "Segment(start=now, end=planned.end,",
    ),
    Mutant("a passed start is not noticed", _REQUOTING, "now <= request.latest_start:", "True:"),
    Mutant(
        "a proposal outlives the time to pay",
        _DRAFTING,
        "return option.segments[0].start - configuration.decision.payment_margin",
        "return None",
    ),
    Mutant(
        "money of another day counts then",
        _BUDGETING,
        "if day_of(held.held_at) != day_of(now):",
        "if False:",
    ),
    Mutant(
        "a lowered ceiling is overlooked",
        _BUDGETING,
        "    if over is not None:\n        return over.text",
        "    if over is None and over is not None:\n        return over.text",
    ),
    Mutant(
        "approving asks no budget",
        _BUDGETING,
        "    if over is not None:\n        raise UserError",
        "    if over is None and over is not None:\n        raise UserError",
    ),
    Mutant("nothing is freed", _BUDGETING, "if leg.number not in live:", "if False:"),
    Mutant(
        "approving ignores the switch",
        _APPROVING,
        "if switch_of(tx, self.configuration) is Switch.OFF:",
        "if False:",
    ),
    Mutant(
        "the same person counts twice",
        _APPROVING,
        "len(voices) >= needed(proposal, self.configuration)",
        "len(agreed) + 1 > needed(proposal, self.configuration)",
    ),
    Mutant("the word of who left counts", _APPROVING, "if user not in void]", "if user]"),
    Mutant(
        "today's file is not asked",
        _ENTITLING,
        "if who in today)",
        "if who)",
    ),
    Mutant(
        "expired cards have power",
        _APPROVING,
        "proposal.state is ProposalState.EXPIRED or now >= proposal.expires_at",
        "proposal.state is ProposalState.EXPIRED",
    ),
    Mutant(
        "superseded cards have power",
        _APPROVING,
        "            proposal.state is ProposalState.SUPERSEDED\n            or replaced\n            or proposal.version != reservation.version\n            or reservation.state is not ReservationState.PENDING_APPROVAL",
        "            replaced and False",
    ),
    Mutant("acting alone knows no limit", _PLEADING, " and proposal.ceiling <= rule.up_to_usd", ""),
    Mutant(
        "nobody is asked to rehearse", _PROPOSING, "if not reasons:", "if reasons or not reasons:"
    ),
    Mutant(
        "anybody proposes",
        _PROPOSING,
        "        check_concerned(reservation, by, self.configuration)\n",
        "",
    ),
    Mutant(
        "no tier is no obstacle",
        _PROPOSING,
        "tier = tier_for(total, self.configuration)\n        if tier is None:",
        "tier = tier_for(total, self.configuration) or self.configuration.approval.tiers[-1]\n        if tier is None:",
    ),
    Mutant(
        "proposing ignores the ceilings",
        _PROPOSING,
        "        if over is not None:",
        "        if over is None and over is not None:",
    ),
    Mutant(
        "money is not held",
        _COMMITTING,
        "if proposal.option.kind is not Kind.OWNED:\n        budgeting.hold",
        "if proposal.option.kind is Kind.OWNED:\n        budgeting.hold",
    ),
    Mutant(
        "a resume launches what is for later",
        _PURCHASING,
        "if self.clock.now() < start:",
        "if False:",
    ),
    Mutant(
        "approved money is held for ever",
        _WAITING,
        "frozenset({ReservationState.PENDING_APPROVAL, ReservationState.APPROVED})",
        "frozenset({ReservationState.PENDING_APPROVAL})",
    ),
    Mutant(
        "spending needs no approved proposal",
        _SPENDING,
        "or proposal.state is not ProposalState.APPROVED",
        "or False",
    ),
    Mutant("spending needs nobody's word", _SPENDING, "or not _agreed(tx, proposal)", "or False"),
    Mutant(
        "spending needs no fresh version",
        _SPENDING,
        "or proposal.version != reservation.version",
        "or False",
    ),
    Mutant(
        "spending needs no approved request",
        _SPENDING,
        "or reservation.state not in SPENDABLE",
        "or False",
    ),
    Mutant(
        "spending goes on after expiry",
        _SPENDING,
        "if now >= good_until(tx, proposal):",
        "if False:",
    ),
    Mutant("spending goes on after a stop", _SPENDING, "if switch is Switch.OFF:", "if False:"),
    Mutant("shadow buys", _SPENDING, "shadow=switch is Switch.SHADOW", "shadow=False"),
    Mutant(
        "submitted is not committed before the call",
        _PURCHASING,
        "submitted = tx.purchases.move(intended, PurchaseState.SUBMITTED, at=now)\n        write(tx, submitted",
        "submitted = intended\n        write(tx, submitted",
    ),
    Mutant(
        "a submitted row is called again",
        _PURCHASING,
        "        if unclear:\n            return self._unclear(unclear[0])",
        "        if not unclear and unclear:\n            return self._unclear(unclear[0])",
    ),
    Mutant(
        "an unexpected answer counts as a refusal",
        _PURCHASING,
        'text = f"{type(error).__name__}: {error}"',
        'refusal = RefusedError("x", str(error))',
    ),
    Mutant(
        "half a join is paid",
        _PURCHASING,
        "if len(to_buy) > 1 and len(to_buy) == len(proposal.legs):",
        "if False:",
    ),
    Mutant("a live call counts as dead", _PURCHASING, "if not orphan and now < old:", "if False:"),
    Mutant(
        "the price is not asked again",
        _PURCHASING,
        "        offers = self.market.requote(leg)\n",
        "        offers = self.market.requote(leg)\n        return Fit(ref=leg.ref, fee=leg.fee, segments=leg.segments)\n",
    ),
    Mutant(
        "what is held is not looked at again",
        _PURCHASING,
        "        if over is not None:\n            return over\n",
        "",
    ),
    Mutant(
        "the fee is not committed",
        _SETTLING,
        "        tx.budget.settle(\n            budget_key(purchase.reservation_id, purchase.leg.number),\n            amount=money_text(purchase.fee),\n        )\n",
        "",
    ),
    Mutant(
        "receipts are forgotten",
        _SETTLING,
        "            tx.receipts.add(receipt)",
        "            receipt",
    ),
    Mutant(
        "one active part counts for all",
        _SETTLING,
        "if words and words <= ACTIVE_WORDS:",
        "if words & ACTIVE_WORDS:",
    ),
    Mutant(
        "doubt is not looked into",
        _SETTLING,
        "        tx.dues.plan(reconcile_due(purchase, now + FIRST_LOOK))\n",
        "",
    ),
    Mutant(
        "giving up frees what is in doubt",
        _SETTLING,
        "if any(row.state in DOUBTFUL for row in mine):",
        "if False:",
    ),
    Mutant(
        "quota refusals are searched again at once",
        _SETTLING,
        "if sort in (Refusal.QUOTA, Refusal.PERMISSION)",
        "if sort in (Refusal.PERMISSION,)",
    ),
    Mutant(
        "unreadable books count as empty",
        _RECONCILING,
        "after = _longer(before, now) if readable else",
        "after = _longer(before, now) if True else",
    ),
    Mutant(
        "nobody is ever asked to look",
        _RECONCILING,
        ">= self.configuration.limits.review_after",
        ">= self.configuration.limits.review_after * 1000",
    ),
    Mutant(
        "looking ends", _RECONCILING, "            tx.dues.plan(reconcile_due(purchase, at))\n", ""
    ),
    Mutant("a double send files twice", _ASKING, "if same is not None and not again:", "if False:"),
    Mutant(
        "anybody cancels",
        _ASKING,
        "            check_concerned(reservation, by, self.configuration)\n",
        "",
    ),
    Mutant(
        "a change leaves the old card its power",
        _ASKING,
        '"version": reservation.version + 1,',
        '"version": reservation.version,',
    ),
    Mutant(
        "bought things are cancelled",
        _ASKING,
        "if reservation.state not in BEFORE_PURCHASE:",
        "if False:",
    ),
    Mutant("another team pays", _ASKING, "if request.team in names:", "if request.team:"),
    Mutant(
        "lent machines are not counted",
        _LENDING,
        "free=row.available_count if row is not None else 0",
        "free=10**6",
    ),
    Mutant(
        "anybody resumes",
        _SWITCHING,
        "if by not in self.configuration.administrators:",
        "if False:",
    ),
    Mutant(
        "a delegate is a second voice",
        _APPROVING,
        "if obstacle is None and seat in taken.values():",
        "if False:",
    ),
    Mutant("one stands in for who asked", _DELEGATING, " and principal not in barred", ""),
    Mutant(
        "a delegation never ends", _DELEGATING, "entry.until is None or now < entry.until", "True"
    ),
    Mutant("a walk costs more than was approved", _WALKING, "option.total_usd > leg.fee", "False"),
    Mutant(
        "a walk repeats the place that refused", _WALKING, "place_of(leg) not in refused", "True"
    ),
    Mutant(
        "other machines are launched elsewhere",
        _WALKING,
        "if not alike or ",
        "if ",
    ),
    Mutant(
        "strangers' machines are ended", _OVERSTAYING, " and leftover.purchase == purchase.id", ""
    ),
    Mutant("a sale is declared away", _DECLARING, "        if found:", "        if False:"),
    Mutant(
        "anything is declared away",
        _DECLARING,
        "or reservation.state is not ReservationState.NEEDS_REVIEW",
        "and reservation.state is not ReservationState.NEEDS_REVIEW",
    ),
    Mutant("what vanished is not missed", _COMPARING, "elif receipt.gone and", "elif False and"),
    Mutant(
        "a bought part moves on a whole that is in doubt",
        _FOLLOWING,
        "if reservation.state in (_S.PURCHASING, _S.NEEDS_REVIEW):",
        "if False:",
    ),
    Mutant(
        "everybody sees what a team has left",
        "bot/services/words/views.py",
        "return mine or",
        "return True or",
    ),
    Mutant(
        "a reservation concerns everybody",
        _PERMITTING,
        "return user in (reservation.requester, reservation.owner, *configuration.administrators)",
        "return True",
    ),
    Mutant(
        "a quote made once more plans one more end",
        "bot/services/requests/lapsing.py",
        "return hour if hour == moment else hour + timedelta(hours=1)",
        "return moment",
    ),
)
