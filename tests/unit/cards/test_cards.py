"""Cards say what it costs, how sure it is and what is not known, within Slack's limits."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.decision import Certainty, Note, Rejected
from bot.domain.lifecycle import ProposalState
from bot.domain.lifecycle import ReservationState as State
from bot.domain.market import Kind
from bot.domain.records import Approval, Receipt, Switch
from bot.domain.request import Choice, Question, Request
from bot.domain.saying import Announcement, Audience, Section
from bot.domain.values import exact_dollars
from bot.services.digests.homes import HomeView, Shelf
from handlers import ids
from handlers.cards import private
from handlers.cards.approval import approval_card
from handlers.cards.decision import decision_card, plan_card
from handlers.cards.home import home_view
from handlers.cards.lists import listing_messages
from handlers.cards.notes import note_messages
from handlers.cards.phrases import PHRASES
from handlers.cards.wording import hourly, length, percent, wanted
from handlers.forms import FormContext, denial_form, request_form
from handlers.ids import ButtonValue
from tests.handlers.block_kit import elements, faults, view_faults
from tests.handlers.office import (
    NOW,
    ask,
    card,
    decision,
    option,
    proposal,
    request,
    reservation,
)

NASTY = st.text(max_size=400) | st.sampled_from(
    ["<!channel>", "&" * 3_000, "`" * 50, "*a* _b_ ~c~", "\u202egpj.exe", "x" * 5_000, "\n\n"]
)

EN = "en-US"


def words(message):
    return json.dumps(list(message.blocks), ensure_ascii=False)


def names(message):
    return [e["action_id"] for block in message.blocks for e in elements(block)]


def receipt(state, **changes):
    values = {
        "id": "cr-0123456789abcdef0",
        "purchase_id": "p1",
        "reservation_id": 42,
        "kind": Kind.CAPACITY_BLOCK,
        "account": "research",
        "region": "us-east-1",
        "zone": "us-east-1b",
        "instance_type": "p5.48xlarge",
        "instance_count": 2,
        "target": None,
        "segments": option().segments,
        "state": state,
        "checked_at": NOW,
    }
    return Receipt(**{**values, **changes})


def test_the_pick_says_everything_that_decides():
    said = words(decision_card(card()))
    for phrase in (
        "*$6,877.44* in all",
        "$5.97 per GPU-hour",
        "Starts <!date^",
        "Last usable minute <!date^",
        "Guaranteed",
        "*cannot be cancelled*",
        "Pays off above 86.77 %",
        "you said 60 %",
        "Budget left this month: $33,122.56",
    ):
        assert phrase in said, phrase


def test_the_last_usable_minute_is_the_true_one_and_carries_utc():
    said = words(decision_card(card()))
    end = option().usable_end
    assert f"<!date^{int(end.timestamp())}^" in said
    assert "11:00 UTC" in said


def test_others_stand_in_one_line_each_with_why_they_lost_and_at_most_four():
    others = [option(n, total_usd=Decimal(7000 + n)) for n in range(2, 9)]
    said = decision_card(card(decision=decision(option(), *others)))
    text = words(said)
    assert "2. $7,002.00" in text
    assert "5. $7,005.00" in text
    assert "6. $7,006.00" not in text
    assert "costs more" in text
    assert "and 3 more" in text


def test_a_market_that_was_not_read_is_said_and_is_not_no_capacity():
    said = words(decision_card(card()))
    assert "Not read: capacity_block in us-west-2, research (throttled)" in said
    assert "not the same as having no capacity" in said


def test_nothing_that_fits_comes_with_lines_that_can_be_sent():
    advice = (Note(code="try_other_time", text="/gpu reserve 2 p5.48xlarge for 48h fits."),)
    message = decision_card(card(decision=decision(advice=advice)))
    assert "Nothing fits" in words(message)
    assert "for 48h fits" in words(message)
    assert ids.REQUEST not in names(message)


def test_a_join_is_warned_of_first():
    joined = option(
        warnings=(
            Note(code="score_low", text="Low score."),
            Note(code="joined", text="Two purchases."),
        )
    )
    said = words(decision_card(card(decision=decision(joined))))
    assert said.index("Two purchases.") < said.index("Low score.")


def test_the_card_fits_a_phone():
    message = decision_card(card())
    lines = sum(
        block["text"]["text"].count("\n") + 1 for block in message.blocks if "text" in block
    )
    assert lines <= 16
    assert len(message.blocks) <= 8


def test_buttons_are_tied_to_the_decision_that_was_shown():
    message = decision_card(card())
    assert names(message) == [ids.REQUEST, ids.ANOTHER, ids.CHANGE, ids.WATCH, ids.CANCEL]
    value = ButtonValue.read(elements(message.blocks[-1])[0]["value"])
    assert (value.reservation, value.rank, value.seen) == (42, 1, ("d1" * 32)[:12])


@pytest.mark.parametrize("state", [State.EXPIRED, State.BLOCKED])
def test_what_expired_or_is_blocked_can_be_searched_for_again(state):
    message = decision_card(card(reservation=reservation(state=state, note="Nobody came.")))
    assert names(message)[0] == ids.SEARCH
    assert ids.CHANGE in names(message)
    assert "Nobody came." in words(message)


def test_a_start_that_has_passed_can_only_be_changed():
    past = request(latest_start=NOW - timedelta(minutes=1))
    gone = reservation(state=State.EXPIRED, request=past)
    assert names(decision_card(card(reservation=gone))) == [ids.CHANGE]


def test_another_option_goes_round():
    two = card(reservation=reservation(shown_rank=2))
    buttons = {e["action_id"]: e for b in decision_card(two).blocks for e in elements(b)}
    assert ButtonValue.read(buttons[ids.ANOTHER]["value"]).rank == 1
    assert ButtonValue.read(buttons[ids.REQUEST]["value"]).rank == 2


@pytest.mark.parametrize("state", list(State))
def test_every_state_has_a_card_that_slack_takes(state):
    view = card(
        reservation=reservation(state=state, option=option(), note="Because of the limit."),
        proposal=proposal(),
        receipts=(receipt("scheduled"),),
        approvals=(
            Approval(
                proposal_id=7,
                approver="U0BRUNO",
                verdict="deny" if state == State.DECLINED else "approve",
                at=NOW,
                fee=Decimal("6877.44"),
                reason="too dear",
            ),
        ),
        progress="3 of 5 regions",
    )
    message = decision_card(view)
    assert faults(list(message.blocks)) == []
    assert message.text
    assert "gpu-42" in message.text


@pytest.mark.parametrize("state", [s for s in State if s is not State.QUOTED])
def test_approval_can_be_asked_only_of_a_quote(state):
    message = decision_card(card(reservation=reservation(state=state)))
    assert ids.REQUEST not in names(message)


@pytest.mark.parametrize(
    "state", [State.PURCHASING, State.SCHEDULED, State.ACTIVE, State.NEEDS_REVIEW, State.ENDED]
)
def test_nothing_can_be_cancelled_or_changed_once_money_may_be_spent(state):
    assert names(decision_card(card(reservation=reservation(state=state)))) == []


@pytest.mark.parametrize(
    ("receipts", "ticked"),
    [
        ((), False),
        ((receipt("payment-pending"),), False),
        ((receipt("payment-failed"),), False),
        ((receipt("scheduled"),), True),
        ((receipt("active"),), True),
        ((receipt("active"), receipt("payment-pending", id="cr-2")), False),
        ((receipt("active", gone=True),), False),
    ],
)
def test_a_tick_stands_only_where_aws_says_so(receipts, ticked):
    view = card(reservation=reservation(state=State.SCHEDULED, option=option()), receipts=receipts)
    assert ("✓" in words(decision_card(view))) is ticked
    assert ("✓" in words(listing_messages([view], scope="all", more=False, locale=EN)[0])) is ticked


def test_what_bills_by_the_hour_is_starting_and_has_no_payment_that_is_pending():
    hourly_kind = option().model_copy(update={"kind": Kind.ON_DEMAND})
    for chosen, said in ((option(), "Payment pending at AWS"), (hourly_kind, "Starting at AWS")):
        held = reservation(state=State.PAYMENT_PENDING, option=chosen)
        text = words(decision_card(card(reservation=held)))
        assert said in text
        assert ("takes the payment" in text) is (chosen.kind is Kind.CAPACITY_BLOCK)


def test_a_denial_says_who_and_why():
    view = card(
        reservation=reservation(state=State.DECLINED),
        approvals=(
            Approval(
                proposal_id=7,
                approver="U0BRUNO",
                verdict="deny",
                at=NOW,
                fee=Decimal(1),
                reason="too dear",
            ),
        ),
    )
    assert "too dear" in words(decision_card(view))


def test_stopped_buying_is_said_before_money():
    assert "Buying is stopped" in words(decision_card(card(switch=Switch.OFF)))
    assert "Shadow mode" in words(decision_card(card(switch=Switch.SHADOW)))


def test_the_approval_card_asks_for_an_amount_until_a_time():
    message = approval_card(card(proposal=proposal()))
    said = words(message)
    for phrase in (
        "Approve up to *$6,877.44* until <!date^",
        "For: eval run",
        "Asked by @U0ANA, team vision",
        "Next best: $7,925.76",
        "Budget left after it: $26,245.12",
        "Pays off above 86.77 %",
    ):
        assert phrase in said, phrase
    assert message.text == ("Approve up to $6,877.44 for gpu-42 until Wed 10 Mar 2027, 17:30 UTC?")
    assert names(message) == [ids.APPROVE, ids.DENY, ids.ASK]


def test_a_budget_that_is_not_enough_is_said():
    view = card(proposal=proposal(), budget_left=Decimal(1000))
    assert "-$5,877.44 — *over the budget*" in words(approval_card(view))


@pytest.mark.parametrize("state", [s for s in ProposalState if s is not ProposalState.OPEN])
def test_a_proposal_that_is_settled_has_no_buttons(state):
    message = approval_card(card(proposal=proposal(state=state)))
    assert names(message) == []
    assert faults(list(message.blocks)) == []


def test_buttons_that_spend_ask_once_more():
    for block in approval_card(card(proposal=proposal())).blocks:
        for element in elements(block):
            if element["action_id"] == ids.APPROVE:
                assert "cannot be cancelled" in element["confirm"]["text"]["text"]


@settings(max_examples=20, deadline=None)
@given(reason=NASTY, note=NASTY, team=NASTY)
def test_no_text_from_outside_breaks_a_card_or_becomes_live(reason, note, team):
    hostile = reservation(request=request(reason=reason), note=note, team=team, state=State.BLOCKED)
    view = card(reservation=hostile, proposal=proposal(note=note, team=team))
    for message in (
        decision_card(view),
        approval_card(view),
        *listing_messages([view], scope="all", more=True, locale=EN),
        private.saying(reason, hint=note),
        private.filed(hostile, reason, locale="pt-BR"),
    ):
        assert faults(list(message.blocks)) == []
        assert "<!channel>" not in message.text
        assert "<!channel>" not in words(message)
    assert view_faults(home_view(HomeView(user="U0ANA", mine=Shelf(views=(view,))))) == []
    context = FormContext(reservation=42)
    assert view_faults(request_form(context, hostile.request)) == []


@settings(max_examples=15, deadline=None)
@given(
    options=st.lists(
        st.builds(
            option,
            rank=st.integers(1, 60),
            total_usd=st.decimals(0, 10**7, places=2),
            certainty=st.sampled_from(Certainty),
            cancellable=st.booleans(),
            zone=st.none() | st.just("us-east-1a"),
            break_even_utilization=st.none() | st.decimals(0, 3, places=4),
            warnings=st.lists(
                st.builds(Note, code=st.just("joined"), text=st.text(max_size=4_000)), max_size=9
            ).map(tuple),
        ),
        max_size=60,
    ),
    advice=st.lists(
        st.builds(Note, code=st.just("watch"), text=st.text(max_size=4_000)), max_size=9
    ),
)
def test_any_decision_is_a_card_that_slack_takes(options, advice):
    made = decision(*options, advice=tuple(advice))
    for message in (decision_card(card(decision=made)), plan_card(made, "reserve 2 p5.48xlarge")):
        assert faults(list(message.blocks)) == []


def test_eighty_long_lines_are_spread_over_messages_and_all_there():
    views = [
        card(reservation=reservation(n, request=request(reason="r" * (5_000 if n == 3 else 200))))
        for n in range(1, 81)
    ]
    messages = listing_messages(views, scope="all", more=False, locale=EN)
    assert all(faults(list(message.blocks)) == [] for message in messages)
    everything = "".join(words(message) for message in messages)
    assert all(f"*gpu-{n}*" in everything for n in range(1, 81))
    assert "r" * 119 + "…" in everything


def test_a_digest_of_eighty_is_spread_over_messages_too():
    sentences = tuple(((f"gpu-{n}: " + "r" * (5_000 if n == 3 else 200)),) for n in range(1, 81))
    digest = Announcement(
        kind="digest",
        to=Audience(channel="C0GPU"),
        sections=(Section(title="T" * 400, sentences=sentences),),
    )
    messages = note_messages(digest)
    assert all(faults(list(message.blocks)) == [] for message in messages)
    everything = "".join(words(message) for message in messages)
    assert all(f"gpu-{n}: " in everything for n in range(1, 81))
    assert len(messages) > 1


@pytest.mark.parametrize("count", [1, 2, 8, 9, 100, 250])
def test_any_number_of_choices_can_be_shown(count):
    choices = tuple(Choice(label=f"Reading {n}" * 9, value="v" * 200) for n in range(count))
    question = Question(field="earliest_start", question="Which?", choices=choices)
    messages = private.asked(ask("reserve", question, question), delivery=10**9, locale="es-ES")
    assert all(faults(list(message.blocks)) == [] for message in messages)


@pytest.mark.parametrize("locale", ["en-US", "pt-BR", "es-ES", "fr-FR"])
def test_the_forms_are_ones_that_slack_takes(locale):
    context = FormContext(proposal=7, locale=locale)
    assert view_faults(request_form(context, None)) == []
    assert view_faults(request_form(context, request())) == []
    assert view_faults(denial_form(context, name="gpu-42")) == []


def test_every_sentence_is_there_in_every_language_with_the_same_values():
    for language, sentences in PHRASES.items():
        assert set(sentences) == set(PHRASES["en"]), language
        for key, sentence in sentences.items():
            assert sentence.count("{name}") == PHRASES["en"][key].count("{name}"), key


@pytest.mark.parametrize(
    ("given_amount", "wanted_text"),
    [
        ("6877.44", "$6,877.44"),
        ("0.10", "$0.10"),
        ("1105.60", "$1,105.60"),
        ("1661.184", "$1,661.184"),
        ("3038.2", "$3,038.20"),
        ("2000000", "$2,000,000.00"),
    ],
)
def test_an_amount_is_exact(given_amount, wanted_text):
    assert exact_dollars(Decimal(given_amount)) == wanted_text


def test_rates_shares_and_lengths_are_said_plainly():
    assert hourly(Decimal("5.965")) == "$5.97"
    assert percent(Decimal("0.8677")) == "86.77 %"
    assert [length(Decimal(h)) for h in ("24", "72", "36", "1.5")] == [
        "1 day",
        "3 days",
        "36 h",
        "1.5 h",
    ]
    assert (
        wanted(Request(accelerator="H100", accelerator_count=16))
        == "16 \N{MULTIPLICATION SIGN} H100"
    )


def test_the_month_of_a_card_is_seen_in_its_own_time():
    late = card(decided_at=NOW - timedelta(hours=1))
    assert f"Prices as of <!date^{int((NOW - timedelta(hours=1)).timestamp())}" in words(
        decision_card(late)
    )


def test_every_other_way_is_named_with_why_it_is_out_even_when_none_of_it_is_an_option():
    pick = option()
    on_demand = Rejected(
        kind=Kind.ON_DEMAND,
        refs=("od/research/us-east-1/p5.48xlarge",),
        region="us-east-1",
        instance_type="p5.48xlarge",
        reason=Note(code="not_guaranteed", text="long words"),
    )
    plan = on_demand.model_copy(
        update={
            "kind": Kind.TRAINING_PLAN,
            "reason": Note(code="wrong_target", text="made for another target"),
        }
    )
    said = words(decision_card(card(decision=decision(pick, rejected=(on_demand, plan)))))
    assert "On-Demand — nothing guarantees it at that time" in said
    assert "training plan" not in said


def test_the_best_of_another_kind_stands_before_more_of_the_same_kind():
    pick = option()
    same = [option(n, total_usd=Decimal(7000 + n)) for n in range(2, 7)]
    other = option(7, kind=Kind.ODCR, total_usd=Decimal(9000))
    said = words(decision_card(card(decision=decision(pick, *same, other))))
    assert said.index("7. $9,000.00") < said.index("2. $7,002.00")
    assert "and 2 more" in said


def test_a_list_tells_screen_readers_what_stands_in_it():
    views = [card(reservation=reservation(number)) for number in range(40, 0, -1)]
    text = listing_messages(views, scope="mine", more=False, locale=EN)[0].text
    assert text.startswith("Yours: 40 shown. gpu-40 waiting for you to ask for approval; gpu-39")
    assert "gpu-21 " in text
    assert "gpu-20 " not in text
    assert "…" in text
