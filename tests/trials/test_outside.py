from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from matrix import catalog, causes
from matrix.explain.search import Index
from tests.trials.outside import __main__ as outside
from tests.trials.outside.__main__ import (
    ANSWERED,
    FOUND,
    GUESS,
    MISSED,
    NOTHING,
    TEST,
    TUNED,
    Asked,
    Case,
)

REPRODUCERS = [reproducer for reproducer in catalog.load() if reproducer.is_current]
INDEX = Index(REPRODUCERS)
TWICE = "unscale_() has already been called on this optimizer since the last update()"


def case(words: str = "", loud: bool = True, ids: tuple[str, ...] = (), **changes: Any) -> Case:
    fields = {"list": "A list", "link": "https://example.org", "case": "1", "cause": "It is wrong."}
    return Case(
        **{**fields, "cpu": True, "half": TUNED, **changes}, words=words, loud=loud, ids=ids
    )


def test_the_cases_name_lists_and_causes_that_exist() -> None:
    known = {reproducer.id for reproducer in REPRODUCERS}
    known |= {cause.cause for group in causes.load() for cause in group.causes}
    cases = outside.load()
    assert {each.list for each in cases} == set(outside.lists())
    assert len({(each.list, each.case) for each in cases}) == len(cases)
    assert set().union(*(each.ids for each in cases)) <= known
    for each in cases:
        assert each.half in (TUNED, TEST), each
        assert each.link.startswith("https://"), each
        assert each.cause.endswith("."), each
        assert each.words, each


def test_the_halves_are_almost_equal() -> None:
    halves = [each.half for each in outside.load()]
    assert abs(halves.count(TUNED) - halves.count(TEST)) < 3


def test_another_key_is_refused(tmp_path: Path) -> None:
    lines = outside.CASES.read_text(encoding="utf-8").splitlines()
    path = tmp_path / "cases.jsonl"
    path.write_text(f"{lines[0]}\n{json.dumps({**json.loads(lines[1]), 'extra': 1})}\n")
    with pytest.raises(ValueError, match=r"cases\.jsonl:2: expected case, cause, cpu"):
        outside.load(path)


@pytest.mark.parametrize(
    ("asked", "outcome", "rule"),
    [
        (case(TWICE, ids=("amp/unscale_twice",)), FOUND, "error"),
        (case(TWICE, ids=("rnn/lstm_inside_sequential",)), MISSED, ""),
        (case("KeyError: 'xyzzy'", ids=("amp/unscale_twice",)), MISSED, "error"),
        (case(TWICE), ANSWERED, ""),
        (case("KeyError: 'xyzzy'"), NOTHING, ""),
        (case("softmax applied twice", False), ANSWERED, ""),
        (
            case("softmax applied twice", False, ("loss/softmax_before_cross_entropy",)),
            FOUND,
            "error",
        ),
        (case("softmax of the grocery list for tomorrow", False), GUESS, ""),
        (case("xyzzy of the plugh", False), NOTHING, ""),
    ],
)
def test_a_case_is_found_or_not(asked: Case, outcome: str, rule: str) -> None:
    assert outside.ask(asked, REPRODUCERS, INDEX)[1:] == (outcome, rule)


def test_a_cause_counts_only_among_the_first_three() -> None:
    error = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
    listed = next(group for group in causes.load() if error.endswith(group.title)).causes
    outcomes = [
        outside.ask(case(error, ids=(cause.cause,)), REPRODUCERS, INDEX).outcome for cause in listed
    ]
    assert outcomes == [FOUND] * 3 + [MISSED] * (len(listed) - 3)


def test_what_misses_its_share_is_a_problem() -> None:
    good = [Asked(case(ids=("a/b",), half=half), FOUND, "") for half in (TUNED, TEST)]
    assert outside.problems(good) == []
    bad = [each._replace(outcome=MISSED) for each in good]
    bad += [Asked(case(), NOTHING, "")] * 2
    assert [line.split(":")[0] for line in outside.problems(bad)] == [
        "cases that a CPU can show, covered",
        "covered cases found, tuned",
        "covered cases found, test",
    ]


def test_the_page_counts_and_lists_the_losses() -> None:
    asked = [
        Asked(case(ids=("a/b",), case="found"), FOUND, "error"),
        Asked(case(ids=("a/b", "a sentence"), case="lost", half=TEST), MISSED, ""),
        Asked(case(case="open", cpu=False), GUESS, ""),
        Asked(case(case="other", half=TEST), ANSWERED, ""),
    ]
    page = outside.render(asked, {"A list": "https://example.org/list"})
    assert "| [A list](https://example.org/list) | 4 | 3 | 2 | 2 | 1 | 1 |" in page
    assert "| all | 0 of 1 | 0 of 1 | 1 of 1 | 1 of 1 |" in page
    uncovered, _, missed = page.partition("## Covered and not found")
    assert [f"[{name}]" in uncovered for name in ("found", "lost", "open", "other")] == [0, 0, 1, 1]
    assert [f"[{name}]" in missed for name in ("found", "lost", "open", "other")] == [0, 1, 0, 0]
    assert "| `a/b`, a sentence | test |" in missed
    assert (
        "1 published lists name 3 failures that a run on the CPU can show. For 2 of these, a"
        in outside.figure(asked, {"A list": "x"})
    )


def test_the_page_in_the_docs_is_what_is_answered_now() -> None:
    asked, addresses = outside.measure(outside.load(), REPRODUCERS), outside.lists()
    assert outside.TABLE.read_text(encoding="utf-8") == outside.render(asked, addresses)
    readme = (catalog.ROOT / "README.md").read_text(encoding="utf-8")
    assert outside.figure(asked, addresses) in readme
    assert outside.problems(asked) == []
