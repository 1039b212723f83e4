"""Tests how external text is printed."""

import json

import pytest

from matrix.printing import json_text, printable, printable_line
from tests.harness.helpers import call


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("src/train ä.py: 学習 🔥\t# x[::2]", "src/train ä.py: 学習 🔥\t# x[::2]"),
        ("a\nb\r", r"a\nb\r"),
        ("\x1b[31m\x9b\x07\x7f\0", r"\x1b[31m\x9b\x07\x7f\x00"),
        ("\u202e\u2066\u200b\ufeff\u2028\u2029", r"\u202e\u2066\u200b\ufeff\u2028\u2029"),
        ("\udcff", r"\udcff"),  # a byte of a file name that is not in UTF-8
        (" ::error::pwned", r" :\x3aerror::pwned"),
        ("a ##[add-mask]b", r"a ##\x5badd-mask]b"),
    ],
)
def test_control_sequences_of_terminals_and_ci_logs_are_escaped(text, shown):
    assert printable_line(text) == printable_line(shown) == shown


TRACEBACK = """\
  File "a\x9b31m\u202e\u200b.py", line 1, in <module>
    scaler.unscale_(optimizer)
ValueError: Attempting to unscale FP16 gradients.
"""


def test_what_a_command_says_is_printable_line():
    result = call("explain", TRACEBACK)
    assert r"your line: a\x9b31m\u202e\u200b.py:1" in result.output


def test_what_a_command_complains_of_is_printable_line(root):
    result = call("show", "a\x9b\u202e")
    assert result.exit_code == 2
    assert not {"\x9b", "\u202e"} & set(result.output)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x9b31m\x07\r\x08\x00\x7f", r"\x1b[2J\x9b31m\x07\r\x08\x00\x7f"),
        ("a\u202eb\u2066c\u200fd\u061c", r"a\u202eb\u2066c\u200fd\u061c"),
        ("a\u200bb\ufeffc\u2028d\U000e0041", r"a\u200bb\ufeffc\u2028d\U000e0041"),
        ("\udc80", r"\udc80"),
    ],
)
def test_what_does_harm_is_escaped(text, shown):
    assert printable(text) == shown


def test_text_of_any_language_with_its_tabs_and_line_ends_stays_as_it_is():
    text = "a\tb\nc \xa0 é 雪 🙂 ─ \\x1b"
    assert printable(text) == text


def test_json_has_no_command_of_a_ci_log():
    value = {"path": "a ##[add-mask]b", "line": "###[["}
    text = json_text(value)
    assert "##[" not in text
    assert json.loads(text) == value
