"""One broken guard of using and cleaning up at a time; its tests must turn red on each."""

from tests.mutants.run import Mutant

_KITS = ("tests/unit/kits",)
_ADAPTERS = ("tests/contract/aws/test_use_adapters.py",)
_ENDPOINTS = ("tests/services/use/test_use_endpoints.py",)
_CLEANING = ("tests/services/use/test_use_cleaning.py",)
_HEALING = ("tests/services/use/test_use_healing.py",)
_GPUS = ("tests/contract/aws/test_utilisation.py",)
_GPU_IDLING = ("tests/services/after/test_gpu_idling.py",)
_EVENTS = ("tests/services/events",)
_SPEND = ("tests/services/use/test_spot_spend.py",)
_GIVING = ("tests/services/use/test_use_kits.py",)

TESTS: tuple[str, ...] = (
    *_KITS,
    *_ADAPTERS,
    *_GPUS,
    *_GPU_IDLING,
    *_EVENTS,
    "tests/services/use",
)

_EC2 = "bot/kits/ec2.py"
_CLUSTERS = "bot/kits/clusters.py"
_WRITING = "bot/kits/writing.py"
_STAGES = "bot/services/running/endpoint_stages.py"
_KEEPING = "bot/services/running/endpoints.py"
_CLEAN = "bot/services/endings/cleaning.py"
_RECORDS = "bot/services/endings/cleanup_records.py"
_LEFT = "bot/aws/leftovers.py"
_HEAL = "bot/services/running/healing.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a block is launched into without its market type",
        _EC2,
        'into["InstanceMarketOptions"] = {"MarketType": "capacity-block"}',
        "pass",
        _KITS,
    ),
    Mutant(
        "machines from a kit carry no tag",
        _EC2,
        '"TagSpecifications": _tags(setting, "instance", "volume"),\n    }\n\n\ndef cli',
        "}\n\n\ndef cli",
        _KITS,
    ),
    Mutant(
        "the nodes of a block come and go in Slurm",
        _CLUSTERS,
        "setting.count if setting.block else 0",
        "0",
        _KITS,
    ),
    Mutant(
        "Karpenter takes on-demand machines",
        _CLUSTERS,
        '"karpenter.sh/capacity-type": "reserved"',
        '"karpenter.sh/capacity-type": "on-demand"',
        _KITS,
    ),
    Mutant(
        "values leave their quotes in the shell",
        _WRITING,
        "shlex.quote(said)}",
        "said}",
        _KITS,
    ),
    Mutant(
        "YAML reads yes as true",
        _WRITING,
        "_SAFE.fullmatch(value) and value.lower() not in _WORDS",
        "_SAFE.fullmatch(value)",
        _KITS,
    ),
    Mutant(
        "an endpoint is sent before the plan is active",
        _STAGES,
        'if plan is None or plan.status != "Active":',
        "if plan is None:",
        _ENDPOINTS,
    ),
    Mutant(
        "a create leaves without being written down",
        _STAGES,
        "            tx.facts.put(record_name(number), sent.model_dump_json(), at=now)\n",
        "",
        _ENDPOINTS,
    ),
    Mutant(
        "doubt is sent again at once",
        _STAGES,
        "if record.sent_at is not None and now - record.sent_at < DOUBT:\n            return record\n        if record.attempt",
        "if record.attempt",
        _ENDPOINTS,
    ),
    Mutant(
        "the configuration goes before the endpoint",
        _STAGES,
        "            return self._at(record, _E.UNCONFIGURING)\n        if view.status",
        "            return self._at(record, _E.GONE)\n        if view.status",
        _ENDPOINTS,
    ),
    Mutant(
        "the endpoint outlives its plan",
        _KEEPING,
        '            self.begin_deletion(tx, record, now, actor="gpubot")',
        "            pass",
        _ENDPOINTS,
    ),
    Mutant(
        "strangers delete endpoints",
        _KEEPING,
        "            check_concerned(reservation, by, self.configuration)\n            record = record_of",
        "            record = record_of",
        _ENDPOINTS,
    ),
    Mutant(
        "what people started is removed on one word",
        _CLEAN,
        "if item.maker is Maker.KIT:",
        "if False:",
        _CLEANING,
    ),
    Mutant(
        "what carries no tag is removed",
        _CLEAN,
        "if item.maker is Maker.UNKNOWN:",
        "if False:",
        _CLEANING,
    ),
    Mutant(
        "all covers what people started",
        _CLEAN,
        "if item.maker is Maker.BOT and item.stage is _I.FOUND",
        "if item.stage is _I.FOUND",
        _CLEANING,
    ),
    Mutant(
        "whoever asked agrees as well",
        _CLEAN,
        "            if obstacle is not None:\n                raise may_not_decide(obstacle)\n            agreed",
        "            agreed",
        _CLEANING,
    ),
    Mutant(
        "an unread book counts as empty",
        _RECORDS,
        "elif item.stage is _I.GONE or place in unread:",
        "elif item.stage is _I.GONE:",
        _CLEANING,
    ),
    Mutant(
        "a kit's machine counts as the bot's",
        _RECORDS,
        "own = leftover.purchase in self.launches",
        "own = leftover.purchase in self.purchases",
        _CLEANING,
    ),
    Mutant(
        "shutting down counts as gone",
        _LEFT,
        'word(row.state.name) != "terminated"',
        'word(row.state.name) not in {"terminated", "shutting-down"}',
        _CLEANING,
    ),
    Mutant(
        "another installation's reservation is ours",
        _LEFT,
        "if row.is_block or not (name in own or owner in self._purchases):",
        "if row.is_block:",
        _ADAPTERS,
    ),
    Mutant(
        "a person's own termination is an interruption",
        "bot/aws/machines.py",
        'taken and "by-user" not in code',
        "taken",
        _ADAPTERS,
    ),
    Mutant(
        "an interruption is told at every look",
        _HEAL,
        "machine.notice and tx.facts.get(_told_name(reservation.id, machine)) is None",
        "machine.notice",
        _HEALING,
    ),
    Mutant(
        "nothing is decided anew",
        _HEAL,
        "        tx.dues.plan(quote_due(filed, at=now))\n",
        "",
        _HEALING,
    ),
    Mutant(
        "nobody gets a kit",
        "bot/services/reservations/milestones.py",
        "            sequels.when_ready(tx, reservation, receipt, segment, now=now)",
        "            pass",
        _GIVING,
    ),
    Mutant(
        "nothing is looked for at the end",
        "bot/services/reservations/following.py",
        "            sequels.when_ended(tx, moved, now=now + MINUTE if shared else now)",
        "            pass",
        _CLEANING,
    ),
    Mutant(
        "what no agent reports counts as idle",
        "bot/aws/utilisation.py",
        "if read and len(moments[name]) >= whole",
        "if read",
        _GPUS,
    ),
    Mutant(
        "more series are asked for at once than CloudWatch takes",
        "bot/aws/utilisation.py",
        "_QUERIES: Final = 500",
        "_QUERIES: Final = 501",
        _GPUS,
    ),
    Mutant(
        "machines with idle GPUs count as used",
        "bot/services/reservations/using.py",
        "return max(self.in_use - self.gpu_idle, 0)",
        "return self.in_use",
        _GPU_IDLING,
    ),
    Mutant(
        "an episode ends when nobody reports",
        "bot/services/reservations/idling.py",
        "unknown = use.gpu_low and not use.gpu_reporting",
        "unknown = False",
        _GPU_IDLING,
    ),
    Mutant(
        "a message is deleted before its effect is committed",
        "bot/services/running/events.py",
        "        try:\n            outcome =",
        "        self._delete(message)\n        try:\n            outcome =",
        _EVENTS,
    ),
    Mutant(
        "poison is deleted at once",
        "bot/services/running/events.py",
        "if message.receives < GIVE_UP:",
        "if False:",
        _EVENTS,
    ),
    Mutant(
        "only one spelling of the events is known",
        "bot/services/reservations/envelopes.py",
        'envelope.get("detail-type", envelope.get("detail_type"))',
        'envelope.get("detail-type")',
        _EVENTS,
    ),
    Mutant(
        "a doubled event is a second look",
        "bot/services/reservations/agenda.py",
        '    if not tx.dues.plan(_due(place, f"{followed_as}:{why}", at=now)):\n        return False\n',
        '    tx.dues.plan(_due(place, f"{followed_as}:{why}", at=now))\n',
        _EVENTS,
    ),
    Mutant(
        "an interruption is told on an event's word",
        _HEAL,
        "            if machine.notice and tx.facts",
        "            if tx.facts",
        _HEALING,
    ),
    Mutant(
        "a stranger's machine is said to be at risk",
        _HEAL,
        "risk = what == What.REBALANCE and bool(own)",
        "risk = what == What.REBALANCE",
        _HEALING,
    ),
    Mutant(
        "spot that becomes dearer than approved pages nobody",
        "bot/services/reservations/drifting.py",
        "late = spent >= approved and now < end",
        "late = False",
        _SPEND,
    ),
    Mutant(
        "what spot costs is counted at the approved price",
        "bot/services/reservations/drifting.py",
        "rate, at = price.usd_per_hour, until",
        "at = until",
        _SPEND,
    ),
)
