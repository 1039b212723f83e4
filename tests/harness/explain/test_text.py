from dataclasses import replace

import pytest

from matrix import catalog
from matrix.causes import Cause
from matrix.explain import text
from matrix.explain.explain import Answer
from tests.harness.helpers import plant
from tests.harness.recorded import measurement, record

pytestmark = pytest.mark.usefixtures("axis")


@pytest.fixture
def reproducer(root):
    plant(
        root,
        "amp/one",
        "def reproduce(device):\n    return 'boom'\n\n\ndef popular_fix(device):\n    return 'still'\n",
        affected='{ cpu = ">=2.4", cuda = "never" }',
        stand_in='{ cpu = "a meta tensor" }',
        fix='"amp.make_grad_scaler"',
        origin='"torch"',
        documents='["https://example.org/2"]',
        fixed_by='"pytorch#7"',
        messages='["boom"]',
        elsewhere='["kaboom elsewhere"]',
        right='"reproduce(1)\\nreproduce(2)"',
        use='"from amp import make_grad_scaler\\nmake_grad_scaler()"',
        choice='"Use the lines without the fix; use the fix twice"',
    )
    return catalog.load(root)[0]


@pytest.fixture
def measured(reproducer):
    return text.Measured.load([record("2.4.1", {"amp/one": measurement(hash=reproducer.hash)})])


def test_a_summary_shows_the_control_the_popular_fix_and_the_fix(reproducer, measured):
    answer = Answer("boom", [reproducer], [], reproducer.title)
    shown = "\n".join(text.summary(answer, measured, None))
    assert "Wrong:\n    reproduce(device)\n\nRight:\n    reproduce(1)\n    reproduce(2)\n" in shown
    assert (
        "\nRight, with the fix:\n    from amp import make_grad_scaler\n    make_grad_scaler()\n"
        "\nUse the lines without the fix; use the fix twice.\n"
    ) in shown
    assert "Control (the same code without the cause):\n    def control(device):" in shown
    assert "Popular fix that does not help:\n    def popular_fix(device):" in shown
    assert (
        "fix: make_grad_scaler() of reference_fixes/amp.py: torch-repros vendor amp --into DIR"
        in shown
    )
    assert shown.endswith(
        "origin: torch: a bug of PyTorch\n"
        "report: https://github.com/someone/project/issues/1\n"
        "more: torch-repros show amp/one"
    )


def test_lines_that_need_a_newer_torch_than_the_failure_say_so(reproducer):
    newer = replace(reproducer, right_requires=">=2.6")
    assert list(text.advice(newer)) == ["right (torch >=2.6)", "right, with the fix"]
    assert list(text.advice(replace(newer, right=""))) == ["right, with the fix"]


def test_a_text_that_was_not_raised_where_the_failure_is_says_where_it_was(reproducer):
    def noted(matched, **said):
        records = [
            record("2.4.1", {"amp/one": measurement(hash=reproducer.hash, text="boom", said="")}),
            record("2.5.1", {"amp/one": measurement(hash=reproducer.hash, **said)}),
        ]
        return text.Measured.load(records).said(reproducer, matched)

    assert noted("it says BOOM", text="boom", said="") == ""
    assert noted("it says boom", text="bang", said="boom") == ""
    assert noted("it says boom", text="bang", said="") == "this text was raised on 2.4"
    elsewhere = replace(reproducer, messages=())
    measured = text.Measured.load([])
    assert measured.said(elsewhere, "kaboom elsewhere") == "no run here has raised this text"
    assert measured.said(elsewhere, "another") == ""


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        (
            "2.4.1+cu121",
            "on torch 2.4: cpu reproduced (measured 2026-01-01), "
            "cuda not affected (expected, not measured)",
        ),
        (
            "2.5",
            "on torch 2.5: cpu affected (expected, not measured), "
            "cuda not affected (expected, not measured)",
        ),
        (
            "2.3",
            "on torch 2.3: cpu not affected (expected, not measured), "
            "cuda not affected (expected, not measured)",
        ),
        ("1.9.0", "torch 1.9.0 is older than all measured releases (2.2 to 2.6)"),
        (
            "3.0",
            "on torch 3.0: cpu affected (expected, not measured), "
            "cuda not affected (expected, not measured)",
        ),
        (None, "affects torch >=2.4 on cpu (measured 2026-01-01: reproduced on 2.4)"),
    ],
)
def test_the_sentence_tells_measured_from_expected_and_from_not_affected(
    reproducer, measured, version, sentence
):
    assert measured.sentence(reproducer, version) == sentence


def test_a_device_that_nobody_measured_is_expected_alone(reproducer):
    nothing = text.Measured.load([])
    sentence = "affects torch >=2.4 on cpu (expected, not measured)"
    assert nothing.sentence(reproducer, None) == sentence
    assert nothing.ranges(reproducer) == [
        "cpu (stand-in: a meta tensor): expected, not measured: "
        "not affected on 2.2, 2.3, affected on 2.4 to 2.6",
        "cuda: expected, not measured: not affected on 2.2 to 2.6",
    ]


def test_a_stale_measurement_is_none(reproducer):
    stale = text.Measured.load([record("2.4.1", {"amp/one": measurement(hash="0" * 16)})])
    assert "measured 2026" not in stale.sentence(reproducer, None)
    assert "cpu affected (expected, not measured)" in stale.sentence(reproducer, "2.4")


def test_a_release_without_the_api_is_expected_to_be_unavailable(reproducer):
    newer = replace(reproducer, requires=">=2.3", affected={"cpu": "<2.6"})
    ranges = text.Measured.load([]).ranges(newer)
    assert ranges == [
        "cpu (stand-in: a meta tensor): expected, not measured: unavailable on 2.2, "
        "affected on 2.3 to 2.5, not affected on 2.6"
    ]


def test_the_full_text_has_the_code_the_states_and_the_sources(reproducer, measured):
    shown = "\n".join(text.full_text(reproducer, measured, None))
    for part in (
        "def reproduce(device):",
        "cpu (stand-in: a meta tensor): measured 2026-01-01: reproduced on 2.4; "
        "expected, not measured: not affected on 2.2, 2.3, affected on ",
        "kind: error",
        "origin: torch: a bug of PyTorch\n",
        "wrong: reproduce(device)\n",
        "right:\n    reproduce(1)\n    reproduce(2)\n",
        "fixed by: https://github.com/pytorch/pytorch/pull/7",
        "report: https://github.com/someone/project/issues/1",
        "document: https://example.org/2",
    ):
        assert part in shown


def test_the_brief_answer_names_one_report_or_else_a_document(reproducer, measured):
    shown = text.brief(reproducer_answer(reproducer), measured, None)
    assert "report: https://github.com/someone/project/issues/1" in shown
    alone = replace(reproducer, reports=())
    shown = text.brief(reproducer_answer(alone), measured, None)
    assert "document: https://example.org/2" in shown
    assert not any(line.startswith("report: ") for line in shown)


def reproducer_answer(reproducer):
    return Answer("matched", [reproducer], [], reproducer.title)


def test_what_is_retired_says_why(reproducer, measured):
    retired = replace(reproducer, retired="never was a bug")
    assert "retired: never was a bug" in "\n".join(text.full_text(retired, measured, None))
    assert "\nretired:" not in "\n".join(text.full_text(reproducer, measured, None))


@pytest.mark.parametrize(
    ("lines", "shown"),
    [("\na = 1\n", "  right: a = 1"), ("if a:\n    b\n", "  right:\n      if a:\n          b")],
)
def test_lines_stand_beside_their_name_or_below_it(lines, shown):
    assert text.labelled("right", lines, 2) == shown


def test_an_upgrade_is_a_fix_without_a_file(root):
    plant(root, "amp/two", "def reproduce(device):\n    return 1\n")
    assert text.fix(catalog.load(root)[0]) == "upgrade torch"


def test_right_lines_may_be_all_there_is_to_do(root):
    plant(root, "amp/two", "def reproduce(device):\n    return 1\n", fix=None, right='"x = 1"')
    assert text.fix(catalog.load(root)[0]) == "write the lines under `right`"


@pytest.mark.parametrize(
    ("likely", "listed", "heading"),
    [
        (False, 1, "Check this cause:"),
        (True, 1, "This cause is likely:"),
        (False, 2, "Check these causes. The text points to the first:"),
        (True, 2, "The text alone does not show the cause. Check these, most likely first:"),
    ],
)
def test_a_likely_cause_is_not_said_to_be_the_cause(likely, listed, heading, measured):
    first = Cause(cause="first", check="look", likely=likely, line=1)
    every = [first, Cause(cause="second", check="look", line=2)][:listed]
    answer = Answer("boom", [], every, "boom", named={"first": "bang"})
    shown = text.causes(answer, measured, None)
    assert shown[1] == heading
    how = "makes this cause likely" if likely else "points to this cause"
    assert f"    the text {how}: bang" in shown
