from collections.abc import Callable
from pathlib import Path

import pytest

from matrix import catalog
from tests.trials import promises

Problems = Callable[[str], list[str]]

DOCSTRING = """One promise. A second one (see below): with a colon.

Args:
    size: at least 1. More is slower.
    other, two: named together.

Returns: a number.

It takes

- one thing - or none;
- another,
  on two lines. A sentence of its own.

>>> f(1)
2

Last, with `code`. `code` begins another.
"""


@pytest.mark.parametrize("family", catalog.fixes())
def test_every_sentence_of_a_docstring_is_held(family: str) -> None:
    assert promises.problems(family) == []


def test_a_docstring_is_taken_apart_into_sentences() -> None:
    assert promises.sentences(DOCSTRING) == [
        "One promise.",
        "A second one (see below): with a colon.",
        "size: at least 1.",
        "More is slower.",
        "other, two: named together.",
        "a number.",
        "It takes",
        "one thing - or none;",
        "another, on two lines.",
        "A sentence of its own.",
        "Last, with `code`.",
        "`code` begins another.",
    ]


@pytest.fixture
def problems(tmp_path: Path) -> Problems:
    """Returns a function: problems(toml) for a family with one function and one class."""
    (tmp_path / "amp.py").write_text(
        '__all__ = ["One", "two"]\n\n\nclass One:\n    """A class."""\n\n'
        '    def run(self):\n        """It runs."""\n\n    def bare(self):\n        pass\n\n\n'
        'def two():\n    """It is two."""\n\n\ndef _private():\n    """Not public."""\n'
    )
    (tmp_path / "test_amp.py").write_text("def test_two():\n    pass\n")

    def problems(text: str) -> list[str]:
        (tmp_path / "amp.toml").write_text(text)
        problems = promises.problems("amp", tmp_path, tmp_path, tmp_path)
        return [problem.split("amp.toml: ", 1)[1] for problem in problems]

    return problems


GOOD = """
[One]
"A class." = "says what it is"
["One.run"]
"It runs." = ["test_two"]
[two]
"It is two." = ["test_two"]
"""


def test_a_table_that_names_a_test_or_a_reason_for_each_sentence_is_whole(
    problems: Problems,
) -> None:
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('"It runs." = ["test_two"]', "", "One.run: nothing holds: It runs."),
        ('["test_two"]\n[two]', '["test_three"]\n[two]', "One.run: no test test_three"),
        ('["test_two"]\n[two]', "[]\n[two]", "One.run: neither a test nor a reason: It runs."),
        ('"says what it is"', '""', "One: neither a test nor a reason: A class."),
        ("[two]", "[three]\n'x' = 'y'\n[two]", "three: the docstring does not say: x"),
    ],
)
def test_what_is_missing_or_too_much_is_a_problem(
    problems: Problems, before: str, after: str, problem: str
) -> None:
    assert problems(GOOD.replace(before, after)) == [problem]
