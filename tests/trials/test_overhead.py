from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from tests.trials import overhead, shared


def measured(**changes: Any) -> overhead.Overhead:
    figures = {"corpus": 9.0, "overhead": 0.02, "forked": 0.05, "fresh": 5.0, **changes}
    return overhead.Overhead("2.13.0", 2, **figures)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({}, []),
        ({"corpus": 16.0}, ["missed: whole corpus, imports included: 16.0 s, at most 15 s"]),
        ({"overhead": 0.07}, ["missed: median overhead of a run: 70 ms, at most 60 ms"]),
        ({"fresh": 1.0}, ["missed: fresh / forked: 20x, at least 30x"]),
    ],
)
def test_a_missed_target_fails_and_shows_in_the_table(
    changed: dict[str, float], problem: list[str]
) -> None:
    result = measured(**changed)
    assert overhead.problems(result) == problem
    assert overhead.render(result).count("**missed**") == len(problem)


def test_an_interpreter_that_cannot_be_used_is_neither_met_nor_missed() -> None:
    result = CliRunner().invoke(overhead.main, ["--python", "/no/such/python"])
    assert result.exit_code == shared.NOT_MEASURED
    assert "/no/such/python" in result.output
