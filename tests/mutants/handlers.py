"""One broken rule of the handlers at a time; their tests must turn red on each."""

from tests.mutants.run import Mutant

TESTS: tuple[str, ...] = ("tests/handlers", "tests/unit/cards")

_RECEIVING = "handlers/receiving.py"
_DELIVERIES = "handlers/deliveries.py"
_HTTP = "handlers/http.py"
_SOCKET = "handlers/socket.py"
_WORKING = "handlers/working.py"
_COMMANDS = "handlers/commands.py"
_ACTIONS = "handlers/actions.py"
_ANSWERING = "handlers/answering.py"
_MESSENGER = "handlers/messenger.py"
_PEOPLE = "handlers/people.py"
_WEB = "handlers/web.py"
_RENDERING = "handlers/rendering.py"
_WORDING = "handlers/cards/wording.py"
_DECISION = "handlers/cards/decision.py"
_OVERVIEWS = ("tests/handlers/test_overview.py",)
_HOMES = ("tests/handlers/test_home.py",)
_BUTTONS = "handlers/cards/buttons.py"
_RIVALS = "handlers/cards/rivals.py"
_APPROVAL = "handlers/cards/approval.py"
_LIMITS = "handlers/cards/limits.py"
_FORMS = "handlers/forms.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a crowd waits in full behind a locked database",
        "handlers/receiving.py",
        "        if self.locked.is_set():\n",
        "        if not self.locked.is_set() and late:\n",
        tests=("tests/handlers/test_receiving.py",),
    ),
    Mutant(
        "the scrape fails when the database is busy",
        "handlers/http.py",
        '        except BusyError:\n            _log.warning("figures',
        '        except ZeroDivisionError:\n            _log.warning("figures',
        tests=("tests/handlers/test_metering.py",),
    ),
    Mutant(
        "a late delivery is carried out at once",
        _RECEIVING,
        "late = left < LEAST_PATIENCE and not isinstance(item, Opened)",
        "late = False",
    ),
    Mutant(
        "a busy database is acknowledged as if it had taken the row",
        _RECEIVING,
        "            return Verdict.BUSY\n        return Verdict.LATE",
        "            return Verdict.TAKEN\n        return Verdict.LATE",
    ),
    Mutant(
        "a form with a fault is written down all the same",
        _RECEIVING,
        "            if not errors:\n",
        "            if True:\n",
    ),
    Mutant(
        "another app's deliveries are served",
        _RECEIVING,
        "if app_id is not None and sent_to is not None and sent_to != app_id:",
        "if False:",
    ),
    Mutant(
        "another workspace's deliveries are served",
        _RECEIVING,
        "return theirs is None or theirs == workspace",
        "return True",
    ),
    Mutant(
        "an error of a listener reaches Bolt's error path",
        _RECEIVING,
        "except Exception:  # noqa: BLE001 - a boundary: Slack repeats what gets no answer",
        "except ZeroDivisionError:",
    ),
    Mutant(
        "each repeat of a press is a press of its own",
        _DELIVERIES,
        '_key("action", action.user, action.action_id, where, _text(first, "action_ts"))',
        '_key("action", action.user, action.trigger)',
    ),
    Mutant(
        "two presses of one button are one",
        _DELIVERIES,
        '_key("action", action.user, action.action_id, where, _text(first, "action_ts"))',
        '_key("action", action.action_id, where)',
    ),
    Mutant(
        "capabilities are printed",
        _DELIVERIES,
        "    text: str\n    trigger: str = Field(repr=False)",
        "    text: str\n    trigger: str",
    ),
    Mutant(
        "the form is parsed by Bolt's own rule",
        _HTTP,
        'is_command = "command" in form or "ssl_check" in form',
        'is_command = "payload" not in text',
    ),
    Mutant(
        "a signature is not checked",
        _HTTP,
        "return float(timestamp) if valid else None",
        "return float(timestamp)",
    ),
    Mutant(
        "Slack's own timestamp does not count towards lateness",
        _HTTP,
        "arrived=min(arrived, sent)",
        "arrived=arrived",
    ),
    Mutant(
        "a timestamp that is no number reaches int()",
        _HTTP,
        "except (ValueError, TypeError):",
        "except TypeError:",
    ),
    Mutant(
        "waiting in the client's queue does not count towards lateness",
        _SOCKET,
        "self._in_hand.at = raw_message.at if isinstance(raw_message, _Arrived) else self._wall()",
        "self._in_hand.at = self._wall()",
    ),
    Mutant(
        "a socket that was hung up on is taken for a silent one",
        _SOCKET,
        "        if not received:\n",
        "        if False:\n",
    ),
    Mutant(
        "an answer leaves before its delivery is marked",
        _WORKING,
        "self._settle(delivery, outcome)\n            self.answering",
        "self.answering",
    ),
    Mutant(
        "strangers reach the services",
        _WORKING,
        "if person.external:",
        "if False:",
    ),
    Mutant(
        "the deactivated reach the services",
        _WORKING,
        "if person.bot or not person.active:",
        "if person.bot:",
    ),
    Mutant(
        "a conflict is a failure",
        _WORKING,
        "except ConflictError:\n            return self._carry_out(delivery, item)",
        "except ConflictError:\n            raise",
    ),
    Mutant(
        "a line is read at the time of work",
        _ACTIONS,
        "now=delivery.received_at,",
        "now=desk.clock.now(),",
    ),
    Mutant(
        "approval is asked for what is on the card by now",
        _ACTIONS,
        "if card.decision is None or seen(card.decision) != pressed.value.seen:",
        "if card.decision is None:",
    ),
    Mutant(
        "anybody may choose for somebody else",
        _ACTIONS,
        "or item.user != pressed.user:",
        "or False:",
    ),
    Mutant(
        "a late delivery can be confirmed twice",
        _ACTIONS,
        "    if not confirmed:\n",
        "    if False:\n",
    ),
    Mutant(
        "filing all the same is repeated after a crash",
        _ACTIONS,
        "again=value.again and _first_time(delivery, desk),",
        "again=value.again,",
    ),
    Mutant(
        "an old button of a settled question works again",
        _ACTIONS,
        "if is_settled(desk.store, delivery.id) and not value.again:",
        "if False:",
    ),
    Mutant(
        "resuming always turns buying on",
        _COMMANDS,
        "to = Switch.SHADOW if desk.resume_to is Switch.SHADOW else Switch.ON",
        "to = Switch.ON",
    ),
    Mutant(
        "an ephemeral in doubt is sent again",
        _ANSWERING,
        "            except DeliveryDoubtError:\n                raise\n",
        "",
    ),
    Mutant(
        "posts are repeated by the client",
        _WEB,
        "retry_handlers=[],",
        "retry_handlers=[ConnectionErrorRetryHandler(max_retry_count=1)],",
    ),
    Mutant(
        "a post without an answer counts as not posted",
        _WEB,
        'raise DeliveryDoubtError("no_answer") from error',
        'raise DeliveryError("no_answer") from error',
    ),
    Mutant(
        "a server error counts as not posted",
        _WEB,
        "return DeliveryDoubtError(code)",
        "return DeliveryError(code)",
    ),
    Mutant(
        "posts carry no key",
        _MESSENGER,
        '"event_payload": {"key": key}',
        '"event_payload": {"key": ""}',
    ),
    Mutant(
        "a long digest carries its key first",
        _MESSENGER,
        "return self._post(key, messages[-1], where=where, thread=thread)",
        "return self._post(key, messages[0], where=where, thread=thread)",
    ),
    Mutant(
        "a person is remembered for ever",
        _PEOPLE,
        "if known is not None and self.clock.now() - known.person.read_at <= max_age:",
        "if known is not None:",
    ),
    Mutant(
        "another workspace's people are ours",
        _PEOPLE,
        "return self.workspace not in theirs",
        "return False",
    ),
    Mutant(
        "mrkdwn is parsed further by Slack",
        _RENDERING,
        '"verbatim": True}',
        '"verbatim": False}',
    ),
    Mutant(
        "angle brackets of users stay live",
        _RENDERING,
        '.replace("<", "&lt;")',
        "",
    ),
    Mutant(
        "a cut may split an entity",
        _RENDERING,
        "for token in _TOKEN.findall(text):",
        "for token in text:",
    ),
    Mutant(
        "buttons of one name share a row",
        _RENDERING,
        'all(one["action_id"] != other["action_id"] for other in row)',
        "True",
    ),
    Mutant(
        "a payment that is pending gets a tick",
        _WORDING,
        'SURE_STATES = frozenset({"scheduled", "active"})',
        'SURE_STATES = frozenset({"scheduled", "active", "payment-pending"})',
    ),
    Mutant(
        "one good receipt among several is enough for a tick",
        _WORDING,
        "return bool(view.receipts) and all(",
        "return bool(view.receipts) and any(",
    ),
    Mutant(
        "the card shows the window's end as the last usable minute",
        _DECISION,
        "Last usable minute {moment(option.usable_end)}",
        "Last usable minute {moment(option.segments[-1].end)}",
    ),
    Mutant(
        "markets that were not read are kept quiet",
        _RIVALS,
        "if decision.not_read:",
        "if False:",
    ),
    Mutant(
        "approval can be asked for in any state",
        _BUTTONS,
        "if reservation.state != State.QUOTED or view.decision is None:",
        "if view.decision is None:",
    ),
    Mutant(
        "a settled proposal keeps its buttons",
        _APPROVAL,
        "    if asked:\n        blocks += actions",
        "    if True:\n        blocks += actions",
    ),
    Mutant(
        "long messages are not split",
        _LIMITS,
        "MOST_CHARACTERS = 12_000",
        "MOST_CHARACTERS = 120_000",
    ),
    Mutant(
        "a complaint stands under the first field",
        _FORMS,
        "touched[0] if touched else WHAT",
        "WHAT",
    ),
    Mutant(
        "a budget counts what was freed",
        "bot/services/digests/money_sheet.py",
        'if (one.team or "") == team and one.state != "freed"]',
        'if (one.team or "") == team]',
        _OVERVIEWS,
    ),
    Mutant(
        "a budget leaves out what is only held",
        "bot/services/digests/money_sheet.py",
        "self.limit - self.held - self.bought",
        "self.limit - self.bought",
        _OVERVIEWS,
    ),
    Mutant(
        "everybody sees every team's budget",
        "bot/services/digests/overviews.py",
        "        if user in self.configuration.administrators:\n            return tuple(",
        "        if user:\n            return tuple(",
        _OVERVIEWS,
    ),
    Mutant(
        "a digest on demand shows every team's money",
        "bot/services/digests/overviews.py",
        "self.digesting.preview(teams=self._team_names(user))",
        "self.digesting.preview()",
        _OVERVIEWS,
    ),
    Mutant(
        "the calendar's days are UTC's",
        "bot/services/digests/coming_days.py",
        "happening.at.astimezone(place).date()",
        "happening.at.date()",
        _OVERVIEWS,
    ),
    Mutant(
        "what does not fit a day of the calendar is left out",
        "bot/services/digests/coming_days.py",
        "for first in range(0, len(rest), 100):",
        "for first in range(0, 0, 100):",
        _OVERVIEWS,
    ),
    Mutant(
        "a market look keeps quiet about what was not read",
        "bot/services/digests/market_words.py",
        "sentences += _unread(market.not_read)",
        "sentences += ()",
        _OVERVIEWS,
    ),
    Mutant(
        "the Home tab asks people to approve their own",
        "bot/services/digests/homes.py",
        "standing.user not in (*barred, *given)",
        "standing.user not in given",
        _HOMES,
    ),
    Mutant(
        "the Home tab asks whoever agreed already",
        "bot/services/digests/homes.py",
        "standing.user not in (*barred, *given)",
        "standing.user not in barred",
        _HOMES,
    ),
    Mutant(
        "a deactivated approver is asked",
        "bot/services/digests/homes.py",
        " or unfit(standing) is not None:",
        ":",
        _HOMES,
    ),
    Mutant(
        "a page of the Home tab repeats the last one",
        "bot/services/digests/homes.py",
        "limit=STEP, before_id=before",
        "limit=STEP, before_id=None",
        _HOMES,
    ),
    Mutant(
        "each press on status costs a look at AWS",
        "bot/services/digests/glancing.py",
        "if now - last < STALE:",
        "if False:",
        ("tests/handlers/test_looking_again.py",),
    ),
    Mutant(
        "refusals are in English for everybody",
        "handlers/cards/private.py",
        "refusal_words(error, locale)",
        "error.message",
        ("tests/unit/cards/test_refusals.py",),
    ),
    Mutant(
        "a longer block is said to have cost the first fee in all",
        "handlers/cards/bought.py",
        "return bool(bought and there) and max(there) > max(bought)",
        "return False",
        ("tests/unit/cards/test_bought.py",),
    ),
    Mutant(
        "approvers see a price younger than the question",
        _APPROVAL,
        "read_at = min(view.decided_at or proposal.asked_at, proposal.asked_at)",
        "read_at = view.decided_at or proposal.asked_at",
        ("tests/unit/cards/test_approval_card.py",),
    ),
    Mutant(
        "a question about a hand-over leads to the request form",
        "handlers/cards/private.py",
        "return parsed.command is None or parsed.command in FORM_VERBS",
        "return True",
        ("tests/handlers/test_form_hints.py",),
    ),
)
