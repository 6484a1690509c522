from datetime import timedelta
from decimal import Decimal

import pytest

from bot.catalog import platforms
from bot.domain.errors import SettingsError
from bot.domain.records import Switch
from bot.domain.rules import Rules
from bot.policy.configuration import Limits
from bot.settings.config_file import EXAMPLE, parse_configuration, problems_in, read_configuration


def sound(text: str):
    configuration, faults = parse_configuration(text)
    assert faults == []
    assert configuration is not None
    return configuration


def faults_of(before: str, after: str) -> list[tuple[int, str]]:
    assert before in EXAMPLE
    _, faults = parse_configuration(EXAMPLE.replace(before, after, 1))
    assert faults
    return faults


def line_of(text: str) -> int:
    return next(at for at, line in enumerate(EXAMPLE.splitlines(), 1) if text in line)


def test_the_example_that_is_printed_is_a_sound_file() -> None:
    configuration = sound(EXAMPLE)
    assert configuration.approval.tiers[1].expires == timedelta(hours=4)
    assert configuration.approval.tiers[1].up_to_usd == Decimal(10000)
    assert configuration.purchasing is Switch.ON


def test_an_unknown_key_names_its_line_and_the_nearest_key() -> None:
    [(line, said)] = faults_of("needed: 1", "neded: 1")
    assert line == line_of("needed: 1")
    assert "neded" in said
    assert "did you mean needed" in said


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("needed: 2", "needed: 3", "only 2 people"),
        ("approvers: [U0BRUNO, U0CARLA], needed: 1", "approvers: [], needed: 1", "nobody could"),
        ('up_to_usd: "10000"', 'up_to_usd: "100"', "must rise"),
        ("expires: 4h", "expires: 4", "30m or 24h"),
        ("expires: 4h", "expires: soon", "30m or 24h"),
        ('"111122223333"', "1111", "account_id"),
        ("zone: America/Sao_Paulo", "zone: Moon/Base", "Europe/Berlin"),
        ("administrators: [U0DIEGO]", "administrators: []", "administrators"),
        ("kinds: [on_demand", "kinds: [on_deman", "kinds[0]"),
        ('daily_ceiling_usd: "50000"', "daily_ceiling_usd: lots", "daily_ceiling_usd"),
    ],
)
def test_a_rule_that_cannot_hold_is_refused_with_its_name(before, after, named) -> None:
    assert any(named in said for _, said in faults_of(before, after))


def test_a_key_that_stands_twice_is_a_fault() -> None:
    _, faults = parse_configuration(EXAMPLE + "\ndefault_target: ec2\n")
    assert any("twice" in said for _, said in faults)


def test_on_without_quotes_is_the_word_and_not_a_boolean() -> None:
    assert sound(EXAMPLE.replace('purchasing: "on"', "purchasing: off")).purchasing is Switch.OFF


def test_an_amount_without_quotes_keeps_its_last_digit() -> None:
    text = EXAMPLE.replace('up_to_usd: "500"', "up_to_usd: 500.10")
    assert sound(text).approval.tiers[0].up_to_usd == Decimal("500.10")


def test_durations_of_the_decision_are_read(tmp_path) -> None:
    text = EXAMPLE.replace("decision: {}", "decision: {payment_margin: 20m, short_tolerance: 0.2}")
    rules = sound(text).rules
    assert rules.payment_margin == timedelta(minutes=20)
    assert rules.short_tolerance == Decimal("0.2")
    assert rules.regions == {"research": ("us-east-1", "us-east-2", "us-west-2", "eu-north-1")}


@pytest.mark.parametrize("text", ["", "- a list", "a: [", "\t", "a: b: c", "accounts: 3"])
def test_what_is_no_configuration_gives_a_line_and_never_an_exception(text) -> None:
    configuration, faults = parse_configuration(text)
    assert configuration is None
    assert faults


_LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    "more",
    [
        _LAUGHS,
        "x: &x [*x]\n",
        "x: &x {y: *x}\n",
        "x: " + "[" * 3000 + "]" * 3000,
        "? [a, b]\n: c\n",
        "x: *nobody\n",
        "x: \0\n",
        'x: "\\ud800"\n',
        "x: !!python/object/apply:os.system [id]\n",
        "---\na: 1\n",
    ],
)
def test_a_hostile_file_gives_a_line_and_never_an_exception(more) -> None:
    _, faults = parse_configuration(f"{EXAMPLE}\n{more}")
    assert faults
    assert all(line >= 1 and said for line, said in faults)


@pytest.mark.parametrize(
    "amount", ["-5", ".nan", "NaN", "inf", "1e5", "1e500", '"50,000"', "0x10", "1.234", "9" * 400]
)
def test_an_amount_is_digits_and_at_most_a_billion(amount) -> None:
    [(line, said)] = faults_of('daily_ceiling_usd: "50000"', f"daily_ceiling_usd: {amount}")
    assert line == line_of("daily_ceiling_usd")
    assert "write an amount in digits" in said


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("needed: 1", "needed: " + "9" * 5000, "a whole number"),
        ("expires: 4h", "expires: 99999999999999999999d", "30m or 24h"),
        ("administrators: [U0DIEGO]", "administrators: [diego]", "like U0ANA"),
        ("administrators: [U0DIEGO]", "administrators: U0DIEGO", "must be a list"),
        ("requests: C0GPU", "requests: gpu", "like C0GPU"),
    ],
)
def test_a_complaint_says_what_to_write_and_once(before, after, named) -> None:
    [(_, said)] = faults_of(before, after)
    assert named in said


def test_a_file_that_is_not_there_is_one_clear_line(tmp_path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        read_configuration(tmp_path / "none.yaml")


def test_a_file_that_is_not_text_is_one_clear_line(tmp_path) -> None:
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"\xff\xfe\x00\x01")
    assert "not UTF-8" in problems_in(path)[0]


def test_several_faults_are_all_listed_with_their_lines(tmp_path) -> None:
    path = tmp_path / "gpubot.yaml"
    path.write_text(EXAMPLE.replace("needed: 1", "neded: 1").replace("expires: 8h", "expires: x"))
    problems = problems_in(path)
    assert len(problems) == 2
    assert all(problem.startswith(f"{path}:") for problem in problems)
    with pytest.raises(SettingsError, match="and 1 more"):
        read_configuration(path)


def test_delegates_are_read_and_a_misspelt_key_of_theirs_gets_a_hint() -> None:
    with_delegate = EXAMPLE.replace(
        "  break_glass:", "  delegates:\n    - {of: U0BRUNO, to: U0DIEGO}\n  break_glass:"
    )
    [delegate] = sound(with_delegate).approval.delegates
    assert (delegate.of, delegate.to) == ("U0BRUNO", "U0DIEGO")
    _, faults = parse_configuration(with_delegate.replace("to: U0DIEGO", "too: U0DIEGO"))
    assert any("did you mean to" in said for _, said in faults)


def test_the_keys_that_the_example_only_names_show_what_holds_without_them() -> None:
    text = EXAMPLE.replace("decision: {}", "# decision:", 1)
    head, limits, named = text.partition("# limits:")
    whole = head + "\n".join(
        line.removeprefix("# ") for line in (limits + named).splitlines() if line.startswith("#")
    )
    configuration = sound(whole)
    assert configuration.limits == Limits()
    assert configuration.decision == Rules()
    assert configuration.limits.model_fields_set == set(Limits.model_fields)
    elsewhere = {"kinds", "regions", "default_target"}
    assert configuration.decision.model_fields_set == set(Rules.model_fields) - elsewhere


TWO = (
    EXAMPLE.replace(
        "kinds: [on_demand",
        """  - name: vision-prod
    account_id: "444455556666"
    regions: [us-east-1]
    organization: o-a1b2c3d4e5
kinds: [on_demand""",
        1,
    )
    .replace(
        "    subnets: {} ",
        "    organization: o-a1b2c3d4e5\n    shares_with: [vision-prod]\n    subnets: {} ",
        1,
    )
    .replace(
        ', monthly_budget_usd: "40000"}', ', monthly_budget_usd: "40000", account: vision-prod}', 1
    )
)


def test_a_team_may_use_another_account_than_the_one_that_buys() -> None:
    configuration = sound(TWO)
    assert configuration.teams[0].account == "vision-prod"
    assert configuration.accounts[0].shares_with == ("vision-prod",)


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("account: vision-prod}", "account: vision-prd}", "teams[0].account is 'vision-prd'"),
        ("account: vision-prod}", "account: vision-prd}", "did you mean vision-prod"),
        ("account: vision-prod}", "account: zzz}", "known: research, vision-prod"),
        ("shares_with: [vision-prod]", "shares_with: [visionprod]", "accounts[0].shares_with[0]"),
        ("shares_with: [vision-prod]", "shares_with: [research]", "the account itself"),
        ("organization: o-a1b2c3d4e5", "organization: o-zzzzzzzzzz", "one organization only"),
        ("organization: o-a1b2c3d4e5", "organization: acme", "organization"),
    ],
)
def test_an_account_that_is_none_or_never_shares_is_named_with_its_line(
    before, after, named
) -> None:
    assert before in TWO
    changed = TWO.replace(before, after, 1)
    _, faults = parse_configuration(changed)
    wanted = "shares_with" if "organization" in before and "only" in named else after
    line = next(at for at, text in enumerate(changed.splitlines(), 1) if wanted in text)
    assert [(at, named in said) for at, said in faults] == [(line, True)]


@pytest.mark.parametrize(
    ("written", "mend"),
    [("us-esat-1", "did you mean us-east-1?"), ("the moon", "write a Region's code")],
)
def test_a_region_that_aws_does_not_have_names_its_line_and_the_nearest(written, mend) -> None:
    [(line, said)] = faults_of("regions: [us-east-1", f"regions: [{written}")
    assert line == line_of("regions: [us-east-1")
    assert f"AWS has no Region {written!r}; {mend}" in said


@pytest.mark.parametrize("key", ["launch_templates", "event_queues"])
def test_a_region_that_only_a_key_names_is_checked_as_well(key) -> None:
    value = '{us-esat-1: "https://sqs.us-east-1.amazonaws.com/1/q"}'
    text = EXAMPLE.replace("launch_templates: {}", "", 1)
    text = text.replace("    subnets: {}", f"    {key}: {value}\n    subnets: {{}}", 1)
    _, [(_, said)] = parse_configuration(text)
    assert f"{key}.us-esat-1: AWS has no Region" in said


@pytest.mark.parametrize(
    ("written", "mend"),
    [
        ("linux/unix", "did you mean Linux/UNIX?"),
        ("Linux", "did you mean"),
        ("?", "write AWS's own"),
    ],
)
def test_a_platform_that_aws_does_not_know_is_a_fault_because_it_is_final(written, mend) -> None:
    [(line, said)] = faults_of("platform: Linux/UNIX", f'platform: "{written}"')
    assert line == line_of("platform: Linux/UNIX")
    assert "which AWS does not know" in said
    assert mend in said


def test_every_platform_of_aws_is_taken() -> None:
    assert len(platforms()) == 18
    for name in platforms():
        sound(EXAMPLE.replace("platform: Linux/UNIX", f"platform: {name}", 1))
