from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import hypothesis
import pytest
import torch
from click.testing import CliRunner
from hypothesis import strategies as st

from matrix.checks import IDS
from tests.trials import differences
from tests.trials.differences import PAIRS, Pair, same, smallest


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Pair:
    """A pair whose two results differ for values of 3 and above."""

    def sides(n: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
        return lambda: n, lambda: n if n < 3 else -n

    pair = Pair("made_up", st.fixed_dictionaries({"n": st.integers(0, 9)}), sides, 1e-4)
    monkeypatch.setitem(PAIRS, "made_up", pair)
    return pair


@pytest.mark.parametrize("name", sorted(set(PAIRS) - {"function_compiled"}))
def test_every_pair_goes_both_ways(name: str) -> None:
    generate = [hypothesis.Phase.generate]
    settings = hypothesis.settings(differences.SETTINGS, max_examples=1, phases=generate)
    example = hypothesis.find(PAIRS[name].examples, lambda example: True, settings=settings)
    one, other = (differences.outcome(way) for way in PAIRS[name].sides(**example))
    assert not isinstance(one, Exception)
    assert not isinstance(other, Exception)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1.0, 1.00001, True),
        (1.0, 1.1, False),
        (math.nan, math.nan, True),
        (math.inf, 1.0, False),
        ([1, 2], [1], False),
        (torch.ones(2), torch.ones(2, dtype=torch.bfloat16), True),
        (torch.ones(2), torch.ones(1, 2), False),
        (torch.tensor([0.001, 1e6]), torch.tensor([0.002, 1e6]), True),
        (ValueError("a"), TypeError("b"), True),
        (ValueError("a"), 1.0, False),
        (NotImplementedError("a"), 1.0, True),
    ],
)
def test_results_are_the_same_up_to_a_part_of_the_largest(
    one: Any, other: Any, equal: bool
) -> None:
    assert same(one, other, 1e-4) is equal


def test_the_smallest_example_that_differs_is_found(pair: Pair) -> None:
    difference = smallest(pair, 100)
    assert difference
    assert (difference.example, difference.one, difference.other) == ({"n": 3}, 3, -3)


def test_an_example_that_a_reproducer_explains_is_passed_over(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [("amp/a", lambda example: example["n"] < 5)]
    monkeypatch.setitem(differences.KNOWN, pair.name, known)
    difference = smallest(pair, 100)
    assert difference
    assert difference.example == {"n": 5}
    known.append(("amp/b", lambda example: True))
    assert smallest(pair, 100) is None


def test_every_known_difference_names_a_reproducer() -> None:
    named = {name for known in differences.KNOWN.values() for name, _ in known}
    assert named <= set(IDS.read_text(encoding="utf-8").split())
    assert set(differences.KNOWN) <= set(PAIRS)


def test_a_difference_is_printed_and_decides_the_exit_code(pair: Pair) -> None:
    result = CliRunner().invoke(differences.main, [pair.name])
    assert result.exit_code == 1
    assert "made_up: {'n': 3}\n  one:   3\n  other: -3" in result.output


def test_no_difference_is_a_success(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(differences.KNOWN, pair.name, [("amp/a", lambda example: True)])
    assert CliRunner().invoke(differences.main, [pair.name]).exit_code == 0


def test_an_unknown_pair_is_a_usage_error() -> None:
    assert CliRunner().invoke(differences.main, ["no_such_pair"]).exit_code == 2
