from __future__ import annotations

from pathlib import Path

import pytest

from tests.trials import shared


def test_columns_of_numbers_are_aligned_to_the_right() -> None:
    assert shared.table(("a", "b"), [("x", 1), ("y", "2")], numbers=("b",)) == (
        "| a | b |\n|---|---:|\n| x | 1 |\n| y | 2 |"
    )


def test_problems_are_reported_and_decide_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert shared.finish([]) == shared.MET
    assert shared.finish(["too slow"]) == shared.MISSED
    assert capsys.readouterr().err == "too slow\n"


def test_a_table_may_be_written_outside_the_project(tmp_path: Path) -> None:
    shared.write(tmp_path / "table.md", "é\n")
    assert (tmp_path / "table.md").read_text(encoding="utf-8") == "é\n"
