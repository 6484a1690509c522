import pytest

from tests.unit.language.said import asked, facts, said

MACHINE_FIELDS = (
    "instance_type", "instance_count", "minimum_count", "accelerator", "accelerator_count",
)  # fmt: skip


def machines(text, language="en"):
    parsed = said(text, language)
    assert parsed.status == "ok", (text, parsed)
    return tuple(facts(parsed).get(field) for field in MACHINE_FIELDS)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("2 p5.48xlarge", "en"),
        ("2x p5.48xlarge", "en"),
        ("2 x p5.48xlarge", "en"),
        ("2xp5.48xlarge", "en"),
        ("2 × p5.48xlarge", "en"),
        ("p5.48xlarge x2", "en"),
        ("P5.48XLARGE x 2", "en"),
        ("two p5.48xlarge", "en"),
        ("2 machines of p5.48xlarge", "en"),
        ("2 nodes p5.48xlarge", "en"),
        ("2 instances of p5.48xlarge", "en"),
        ("duas p5.48xlarge", "pt"),
        ("2 máquinas de p5.48xlarge", "pt"),
        ("2 nós p5.48xlarge", "pt"),
        ("dos p5.48xlarge", "es"),
        ("2 nodos p5.48xlarge", "es"),
        ("2 instancias de p5.48xlarge", "es"),
        ("type=p5.48xlarge count=2", "en"),
        ("--type p5.48xlarge --count=2", "en"),
        ("2 p5.48xlarge 2 p5.48xlarge", "en"),
    ],
)
def test_every_way_to_count_machines_is_the_same(text, language):
    assert machines(f"{text} 3d", language) == ("p5.48xlarge", 2, None, None, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p5.48xlarge", ("p5.48xlarge", 1, None, None, None)),
        ("a p5.48xlarge", ("p5.48xlarge", 1, None, None, None)),
        ("ten p5.48xlarge", ("p5.48xlarge", 10, None, None, None)),
        ("p4d", ("p4d.24xlarge", 1, None, None, None)),
        ("16xH100", (None, None, None, "H100", 16)),
        ("16 H100s", (None, None, None, "H100", 16)),
        ("16 x H100", (None, None, None, "H100", 16)),
        ("8 RTX PRO 6000", (None, None, None, "RTX PRO 6000", 8)),
        ("8xrtx pro 6000", (None, None, None, "RTX PRO 6000", 8)),
        ("8 gpus p5.4xlarge", ("p5.4xlarge", 8, None, None, 8)),
        ("12 gpus p5.48xlarge", ("p5.48xlarge", 2, None, None, 12)),
        ("2000 gpus p5.48xlarge", ("p5.48xlarge", 250, None, None, 2000)),
        ("9 B200", ("p6-b200.48xlarge", 2, None, None, 9)),
        ("8 A100-80GB", ("p4de.24xlarge", 1, None, None, 8)),
        ("8 g6f.large", ("g6f.large", 8, None, None, None)),
        ("at least 6 of 8 p5.48xlarge", ("p5.48xlarge", 8, 6, None, None)),
        ("2 u-p6e-gb200x72", ("u-p6e-gb200x72", 2, None, None, None)),
        ("72 gpus u-p6e-gb200x72", ("u-p6e-gb200x72", 1, None, None, 72)),
        ("18 machines of u-p6e-gb200x72", ("u-p6e-gb200x72", 1, None, None, None)),
        ("9 p6e-gb200.36xlarge", ("u-p6e-gb200x36", 1, None, None, None)),
        ("36 GB200", ("u-p6e-gb200x36", 1, None, None, 36)),
    ],
)
def test_machines_and_gpus_are_counted_by_the_catalog(text, expected):
    assert machines(f"{text} 3d") == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("pelo menos 6 de 8 p5.48xlarge por 3 dias", "pt"),
        ("al menos 6 de 8 p5.48xlarge por 3 días", "es"),
    ],
)
def test_fewer_machines_are_welcome_in_every_language(text, language):
    parsed = said(text, language)
    assert (parsed.request.minimum_count, parsed.request.strict) == (6, False)


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("4 p5", {"instance_type": ["p5.48xlarge", "p5.4xlarge"]}),
        ("8 A100", {"accelerator": ["A100-40", "A100-80"]}),
        ("8 V100", {"accelerator": ["V100-16", "V100-32"]}),
        ("8 Trainium", {"accelerator": ["Trainium1", "Trainium2"]}),
        ("H100", {"accelerator_count": ["8", "16", "32"]}),
        ("B200", {"accelerator_count": ["8", "16", "32"]}),
        ("GB200", {"accelerator_count": ["36", "72"]}),
        ("72 GB200", {"instance_type": ["u-p6e-gb200x36", "u-p6e-gb200x72"]}),
        ("2 p5.48xlarge x3", {"instance_count": ["2", "3"]}),
        ("count=2 count=3 type=p5.48xlarge", {"instance_count": ["2", "3"]}),
        ("16 gpus p5.48xlarge x3", {"instance_count": ["3", "2"]}),
        ("2 p5.48xlarge p5e.48xlarge", {"instance_type": ["p5.48xlarge", "p5e.48xlarge"]}),
        ("2 machines of H100", {"instance_type": ["p5.48xlarge", "p5.4xlarge"]}),
    ],
)
def test_more_than_one_machine_is_asked_with_all_as_choices(text, questions):
    parsed = said(f"{text} 3d")
    assert parsed.status == "ask"
    assert asked(parsed) == questions
    for field in questions:
        assert getattr(parsed.request, field) is None


def test_gpus_without_a_type_ask_the_type():
    parsed = said("8 gpus for 3d")
    assert list(asked(parsed)) == ["instance_type"]
    assert parsed.request.accelerator_count == 8


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("ml.p5.48xlarge", ["training-job", "hyperpod-cluster", "endpoint", "studio-apps"]),
        (
            "ml.p5.48xlarge on ec2",
            ["ec2", "training-job", "hyperpod-cluster", "endpoint", "studio-apps"],
        ),
    ],
)
def test_an_ml_type_asks_for_its_target(text, targets):
    parsed = said(f"{text} 3d")
    assert asked(parsed) == {"target": targets}
    assert parsed.request.instance_type == "p5.48xlarge"


def test_an_ml_type_with_a_sagemaker_target_is_settled():
    parsed = said("ml.p5.48xlarge 3d hyperpod")
    assert (parsed.status, parsed.request.target) == ("ok", "hyperpod-cluster")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("p5.48xlrage", "p5.48xlarge"),
        ("2 p5en.48xlage", "p5en.48xlarge"),
        ("p548xlarge", "p5.48xlarge"),
        ("8 A10", "A10G"),
        ("0 p5.48xlarge", ""),
        ("-2 p5.48xlarge", ""),
        ("1.5 p5.48xlarge", ""),
        ("257 p5.48xlarge", "256"),
        ("p5.48xlarge x0", ""),
        ("p5.48xlarge x-1", ""),
        ("p5.48xlarge x1.5", ""),
        ("p5.48xlarge x", ""),
        ("p5.48xlarge x9999", "256"),
        ("300 gpus p5.4xlarge", "256"),
        ("2049 gpus p5.48xlarge", "256"),
        ("99999 H100", "256"),
        ("0xH200", ""),
        ("8 gpus g6f.large", "g6f.large"),
        ("36 gpus u-p6e-gb200x72", "72 GPUs"),
        ("2 machines of u-p6e-gb200x72", "18 machines"),
        ("4 p6e-gb200.36xlarge", "9 machines"),
        ("ml.g5g.xlarge", "g5g.xlarge"),
        ("g5g.xlarge as an endpoint", "g5g.xlarge"),
        ("at least 9 of 8 p5.48xlarge", "9"),
        ("at least 6 of 8 H100", ""),
        ("at least 6 p5.48xlarge", "at least"),
        ("p5.48xlarge 2", "2"),
    ],
)
def test_what_cannot_be_bought_so_is_refused_with_a_line_that_works(text, word):
    parsed = said(f"{text} 3d")
    assert parsed.status == "refused"
    assert word in parsed.problem.message
    assert said(parsed.problem.hint).status != "refused"


def test_256_machines_are_taken():
    assert machines("256 p5.48xlarge 3d")[1] == 256


def test_a_slip_points_at_its_place_in_the_text():
    text = "reserve 2 p5.48xlrage for 3d"
    first, last = said(text).problem.at
    assert text[first:last] == "p5.48xlrage"
