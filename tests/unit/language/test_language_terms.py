from decimal import Decimal

import pytest

from tests.unit.language.said import asked, said

BASE = "2 p5.48xlarge for 1d "
SAGEMAKER = ["training-job", "hyperpod-cluster", "endpoint", "studio-apps"]


def field(text, name, language="en"):
    parsed = said(BASE + text, language)
    assert parsed.status == "ok", (text, parsed)
    return getattr(parsed.request, name)


@pytest.mark.parametrize(
    ("text", "language", "codes"),
    [
        ("in us-east-1", "en", ("us-east-1",)),
        ("US-EAST-1", "en", ("us-east-1",)),
        ("in us-east-1, us-west-2", "en", ("us-east-1", "us-west-2")),
        ("in us-east-1 and us-west-2", "en", ("us-east-1", "us-west-2")),
        ("region=us-east-1,us-west-2", "en", ("us-east-1", "us-west-2")),
        ('region="us-east-1, us-west-2"', "en", ("us-east-1", "us-west-2")),
        ("in Ohio", "en", ("us-east-2",)),
        ("in São Paulo", "en", ("sa-east-1",)),
        ("in Frankfurt", "en", ("eu-central-1",)),
        ("in N. Virginia", "en", ("us-east-1",)),
        ("in Dallas", "en", ("us-east-1-dfw-2a",)),
        ("no Oregon", "pt", ("us-west-2",)),
        ("em us-east-1 e us-west-2", "pt", ("us-east-1", "us-west-2")),
        ("en Oregon", "es", ("us-west-2",)),
        ("anywhere", "en", ()),
        ("em qualquer lugar", "pt", ()),
        ("en cualquier lugar", "es", ()),
    ],
)
def test_regions_by_code_or_unambiguous_name(text, language, codes):
    assert field(text, "regions", language) == codes


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("in Europe", "eu-west-1"),
        ("in Canada", "ca-west-1"),
        ("in US East", "us-east-2"),
        ("in us-east-1 in us-west-2", "us-east-1,us-west-2"),
        ("anywhere in us-east-1", "anywhere"),
    ],
)
def test_an_ambiguous_region_is_asked_with_the_codes(text, some):
    assert some in asked(said(BASE + text))["regions"]


@pytest.mark.parametrize(
    ("text", "language", "target"),
    [
        ("on ec2", "en", "ec2"), ("target=ec2", "en", "ec2"), ("no ec2", "pt", "ec2"),
        ("training-job", "en", "training-job"), ("for a training job", "en", "training-job"),
        ("para um job de treinamento", "pt", "training-job"),
        ("para un trabajo de entrenamiento", "es", "training-job"),
        ("hyperpod", "en", "hyperpod-cluster"), ("no hyperpod", "pt", "hyperpod-cluster"),
        ("on hyperpod on sagemaker", "en", "hyperpod-cluster"),
        ("as an endpoint", "en", "endpoint"), ("como endpoint", "es", "endpoint"),
        ("for inference on sagemaker", "en", "endpoint"), ("studio", "en", "studio-apps"),
    ],
)  # fmt: skip
def test_every_target(text, language, target):
    assert field(text, "target", language) == target


@pytest.mark.parametrize(
    ("text", "language", "choices"),
    [
        ("on sagemaker", "en", SAGEMAKER),
        ("no sagemaker", "pt", SAGEMAKER),
        ("on ec2 on hyperpod", "en", ["ec2", "hyperpod-cluster"]),
    ],
)
def test_a_doubtful_target_is_asked(text, language, choices):
    assert asked(said(BASE + text, language)) == {"target": choices}


@pytest.mark.parametrize(
    ("text", "language", "may"),
    [
        ("spot ok", "en", True), ("interruptible", "en", True), ("spot=yes", "en", True),
        ("pode ser interrompido", "pt", True), ("puede interrumpirse", "es", True),
        ("no spot", "en", False), ("no spot", "es", False), ("not interruptible", "en", False),
        ("spot=no", "en", False), ("sem spot", "pt", False), ("sin spot", "es", False),
        ("não pode ser interrompido", "pt", False), ("no puede interrumpirse", "es", False),
    ],
)  # fmt: skip
def test_whether_it_may_be_interrupted(text, language, may):
    assert field(text, "interruptible", language) is may


@pytest.mark.parametrize(("text", "language"), [("no spot", "pt"), ("spot ok no spot", "en")])
def test_no_spot_in_portuguese_and_both_at_once_are_asked(text, language):
    assert set(asked(said(BASE + text, language))["interruptible"]) == {"true", "false"}


@pytest.mark.parametrize(
    ("text", "language", "share"),
    [
        ("at 60% use", "en", "0.6"), ("at 60 % use", "en", "0.6"), ("use=60%", "en", "0.6"),
        ("at 100% use", "en", "1"), ("a 60% de uso", "pt", "0.6"), ("al 60% de uso", "es", "0.6"),
        ("running 8h a day", "en", "0.3333"), ("running 6 hours a day", "en", "0.25"),
        ("rodando 6h por dia", "pt", "0.25"),
    ],
)  # fmt: skip
def test_utilization_is_a_share_of_the_window(text, language, share):
    assert field(text, "utilization", language) == Decimal(share)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("for <@U0AAA111|dana>", "owner", "U0AAA111"),
        ("owner=<@U0AAA111>", "owner", "U0AAA111"),
        ("para <@U0AAA111>", "owner", "U0AAA111"),
        ("team=vision", "team", "vision"),
        ("--team vision", "team", "vision"),
        ('team="ML vision"', "team", "ML vision"),
        ("in <#C0AAA111|gpu>", "channel", "C0AAA111"),
        ("platform=Ubuntu-Pro", "platform", "Ubuntu-Pro"),
        ('because "x y"', "reason", "x y"),
        ('reason="x y"', "reason", "x y"),
        ('porque "x y"', "reason", "x y"),
        ('motivo="x y"', "reason", "x y"),
        ("reason=evals", "reason", "evals"),
        ("reason=“don’t stop”", "reason", "don’t stop"),
        ("reason='don’t stop'", "reason", "don’t stop"),
        ("because ‘nightly evals’", "reason", "nightly evals"),
        ('because "a”', "reason", "a"),
        ("for fine-tuning llama", "reason", "fine-tuning llama"),
        ("for fine-tuning llama, thanks.", "reason", "fine-tuning llama"),
        ("para treinar llama", "reason", "treinar llama"),
        ('because "R&amp;D &lt;x&gt; &amp;amp; — ok"', "reason", "R&D <x> &amp; — ok"),
        ('because "<@U1|dana> <#C1|gpu> <http://x.y|x.y>"', "reason", "@dana #gpu x.y"),
        ('because "' + "a" * 500 + '"', "reason", "a" * 500),
        ('because "for 3 days max $5"', "reason", "for 3 days max $5"),
    ],
)
def test_who_where_and_why(text, name, value):
    assert field(text, name) == value


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("for <!subteam^S0A|@ml>", "owner"),
        ("for <@U1> for <@U2>", "owner"),
        ("team=a team=b", "team"),
        ('because "a" because "b"', "reason"),
        ('because ""', "reason"),
        ("at 60% use at 70% use", "utilization"),
    ],
)
def test_two_people_groups_and_two_reasons_are_asked(text, question):
    assert list(asked(said(BASE + text))) == [question]


@pytest.mark.parametrize(
    "text",
    [
        "in us-east-9", "in Mars", "target=foo", "spot=maybe", "use=60", "at 150% use",
        "at 0% use", "running 30h a day", "at 60%", "<@U0AAA111>", "for @dana", "in #gpu",
        "owner=dana", "reason=x y", 'because "a', "because 'a", "because fine tuning",
        'because "' + "a" * 501 + '"', "for fine-tuning, in us-east-1", "no ec2", "no Oregon",
        "--force", "foo=bar", "--type", "with infiniband", "(spot ok)", "<!channel>",
        "for evals with @dana",
    ],
)  # fmt: skip
def test_what_no_rule_understands_is_named_and_refused(text):
    parsed = said(BASE + text)
    assert parsed.status == "refused"
    assert said(parsed.problem.hint).status != "refused"


def test_a_leftover_is_named():
    assert "with infiniband" in said(BASE + "with infiniband").problem.message
