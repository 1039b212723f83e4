from dataclasses import replace

import pytest
from helpers import plant
from recorded import measurement, record

from matrix import catalog
from matrix.answers import text


@pytest.fixture
def reproducer(root):
    plant(
        root,
        "amp/one",
        "def reproduce(device):\n    return 'boom'\n\n\ndef popular_fix(device):\n    return 'still'\n",
        affected='{ cpu = ">=2.4", cuda = "never" }',
        stand_in='{ cpu = "a meta tensor" }',
        fix='"amp.make_grad_scaler"',
    )
    return catalog.load(root)[0]


@pytest.fixture
def measured(reproducer):
    return text.Measured.load([record("2.4.1", {"amp/one": measurement(hash=reproducer.hash)})])


def test_a_summary_shows_the_control_the_popular_fix_and_the_fix(reproducer, measured):
    shown = text.summary(reproducer, measured, None)
    assert "Control (the same code without the cause):\n    def control(device):" in shown
    assert "Popular fix that does not help:\n    def popular_fix(device):" in shown
    assert (
        "fix: make_grad_scaler() of reference_fixes/amp.py: torch-repros vendor amp --into DIR"
        in shown
    )
    assert shown.endswith("more: torch-repros show amp/one")


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        ("2.4.1+cu121", "on torch 2.4 measured: cpu reproduced, cuda unknown"),
        ("2.5", "on torch 2.5 measured: cpu unknown, cuda unknown"),
        ("1.9.0", "torch 1.9.0 has not been measured (1.13 to "),
        (None, "affects torch >=2.4 on cpu; measured on 1.13 to "),
    ],
)
def test_the_sentence_is_about_the_users_own_torch(reproducer, measured, version, sentence):
    assert measured.sentence(reproducer, version).startswith(sentence)


def test_the_full_text_has_the_code_the_states_and_the_sources(reproducer, measured):
    shown = text.full_text(reproducer, measured, None)
    for part in (
        "def reproduce(device):",
        "; reproduced on 2.4",
        "kind: error",
        "source: https://example.org/1",
    ):
        assert part in shown


def test_what_is_retired_says_why(reproducer, measured):
    retired = replace(reproducer, retired="never was a bug")
    assert "retired: never was a bug" in text.full_text(retired, measured, None)
    assert "\nretired:" not in text.full_text(reproducer, measured, None)


def test_an_upgrade_is_a_fix_without_a_file(root):
    plant(root, "amp/two", "def reproduce(device):\n    return 1\n")
    assert text.fix(catalog.load(root)[0]) == "upgrade torch"
