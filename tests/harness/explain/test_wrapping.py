import io
import re

import pytest

from matrix import catalog, causes
from matrix.evidence import records
from matrix.explain import text, wrapping
from matrix.explain.explain import Answer
from matrix.explain.wrapping import Code, Prose

SENTENCE = "a line that is a good deal longer than the forty columns of this test"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("line", "wrapped"),
    [
        ("short", "short"),
        ("", ""),
        (
            SENTENCE,
            "a line that is a good deal longer than\n  the forty columns of this test",
        ),
        (
            f"  - {SENTENCE}",
            "  - a line that is a good deal longer\n    than the forty columns of this test",
        ),
        (
            f" 1. {SENTENCE}",
            " 1. a line that is a good deal longer\n    than the forty columns of this test",
        ),
        (
            "fix: f() of amp.py: torch-repros vendor amp --into DIR",
            "fix: f() of amp.py:\n  torch-repros vendor amp --into DIR",
        ),
        (
            "nothing is here; `torch-repros list --rules` has them",
            "nothing is here;\n  `torch-repros list --rules` has them",
        ),
        ("x " + "/a" * 30, "x\n  " + "/a" * 30),
    ],
)
def test_a_long_line_goes_on_below_and_further_in_and_no_word_or_command_is_cut(line, wrapped):
    assert wrapping.wrap([line], 40) == wrapped


def test_a_docstring_is_refilled_and_code_is_left_alone():
    prose = Prose("one\nparagraph\n\nand another")
    code = Code(f"    # {SENTENCE}")
    assert wrapping.wrap([prose, code], 40) == f"one paragraph\n\nand another\n    # {SENTENCE}"


def test_a_pipe_gets_the_same_lines_whatever_the_window(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert wrapping.width(io.StringIO()) is None
    assert wrapping.wrap([SENTENCE, Prose("one\nparagraph")], None) == f"{SENTENCE}\none\nparagraph"


def test_a_terminal_has_its_width_and_at_most_100_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert wrapping.width(Terminal()) == 40
    monkeypatch.setenv("COLUMNS", "300")
    assert wrapping.width(Terminal()) == 100


def too_long(lines, reproducers):
    """The lines that are too long, except lines that people copy: code and links."""
    long = [line for line in lines if len(line) > 80 and "://" not in line.split(" ")[-1]]
    if not long:
        return []
    code = {
        line.strip()
        for one in reproducers
        for part in (one.source, one.wrong, one.right, one.use)
        for line in part.splitlines()
    } | {
        line.strip()
        for group in causes.load()
        for cause in group.causes
        for line in (cause.wrong + "\n" + cause.right).splitlines()
    }
    return [
        line for line in long if re.sub(r"^(?:wrong|right[^:]*): ", "", line.strip()) not in code
    ]


def test_what_is_shown_of_every_reproducer_fits_80_columns_and_loses_no_word():
    every = catalog.load()
    measured = text.Measured.load(records.load())
    for one in every:
        for texts in (
            text.full_text(one, measured, None),
            text.full_text(one, measured, "2.4"),
            text.summary(Answer("", [one], [], one.title), measured, None),
            text.brief(Answer("", [one], [], one.title), measured, None),
        ):
            shown = wrapping.wrap(texts, 80)
            lines = [line for line in shown.splitlines() if str(one.path) not in line]
            assert too_long(lines, [one]) == []
            assert shown.split() == wrapping.wrap(texts, None).split()


def test_an_answer_is_short_unless_its_lines_are_many():
    measured = text.Measured.load(records.load())
    long = []
    for one in catalog.load():
        shown = wrapping.wrap(text.brief(Answer("", [one], [], one.title), measured, None), 80)
        code = (one.right or one.use).strip().count("\n") + 1
        if shown.count("\n") + 1 > max(text.LINES, code + 15):
            long.append((one.id, shown.count("\n") + 1, code))
    assert long == []


def test_every_list_of_causes_fits_80_columns_and_a_screen():
    every, measured = catalog.load(), text.Measured.load(records.load())
    long = []
    for group in causes.load():
        answer = Answer("", every, list(group.causes), "title")
        for everything in (False, True):
            texts = text.causes(answer, measured, None, everything)
            shown = wrapping.wrap(texts, 80)
            if not everything and shown.count("\n") + 1 > 29:
                long.append((group.title, shown.count("\n") + 1))
            lines = [line for line in shown.splitlines() if " " in line.strip()]  # not one word
            assert too_long(lines, every) == []
    assert long == []
