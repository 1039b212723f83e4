from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from matrix import catalog
from tests.trials import mutants


def score(family: str = "amp", killed: int = 99, survivors: tuple[Any, ...] = ()) -> mutants.Score:
    return mutants.Score(family, 100, killed, 0, [mutants.Survivor(*each) for each in survivors])


ALIVE = mutants.Survivor("amp", "f", "- a\n+ b")
EXPLAINED = {ALIVE: "because"}


@pytest.mark.parametrize(
    ("scores", "reasons", "text"),
    [
        ([score()], {}, None),
        ([score(survivors=(ALIVE,))], EXPLAINED, None),
        ([score(killed=97)], {}, "amp: 97.0% of the mutants are killed; expected at least 98%"),
        (
            [score(survivors=(ALIVE,))],
            {},
            "survivor without a reason in tests/trials/survivors.toml:\n\n"
            '[[survivor]]\nfamily = "amp"',
        ),
        ([score()], EXPLAINED, "survivors.toml: this mutant does not survive: amp.f"),
        ([score(family="rnn")], EXPLAINED, None),  # amp was not run
    ],
)
def test_a_low_score_or_an_unexplained_survivor_fails(
    scores: list[mutants.Score], reasons: dict[mutants.Survivor, str], text: str | None
) -> None:
    problems = mutants.problems(scores, reasons)
    if text is None:
        assert problems == []
    else:
        (problem,) = problems
        assert text in problem


def test_what_is_offered_for_survivors_toml_is_read_back_as_the_survivor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "survivors.toml").write_text(mutants._listed(ALIVE))
    monkeypatch.setattr(mutants, "SURVIVORS", tmp_path / "survivors.toml")
    assert mutants.reasons() == {ALIVE: ""}


def test_context_managers_are_mutated_too_because_they_are_decorated_after_their_definition() -> (
    None
):
    text = (catalog.FIXES / "rnn.py").read_text(encoding="utf-8")
    changed = mutants._undecorated(text)
    assert changed.count("contextlib.contextmanager(") == text.count("@contextlib.contextmanager")
    assert "@contextlib.contextmanager" not in changed
    names: dict[str, Any] = {}
    exec(compile(changed, "rnn.py", "exec"), names)
    with names["cudnn_flags"]():
        pass


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(mutants, "STATE", tmp_path)
    monkeypatch.setattr(mutants, "version", lambda package: "3")
    return tmp_path


def test_a_family_starts_over_only_when_something_has_changed(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = mutants.prepare("rnn")
    (folder / "result").touch()
    assert (mutants.prepare("rnn") / "result").is_file()
    monkeypatch.setattr(mutants, "version", lambda package: "4")
    assert not (mutants.prepare("rnn") / "result").is_file()


def test_the_folder_of_a_family_holds_its_tests_and_what_they_import(state: Path) -> None:
    folder = mutants.prepare("rnn")
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.py")}
    tests = {"tests/conftest.py", "tests/fixes/conftest.py", "tests/fixes/test_rnn.py"}
    assert files > {"reference_fixes/rnn.py", "matrix/catalog.py", "matrix/devices.py", *tests}


def test_a_run_out_of_time_is_left_to_be_resumed(state: Path) -> None:
    score = mutants._score("rnn", mutants.prepare("rnn"), timed_out=True)
    assert (score.killed, score.left) == (0, 1)


def test_the_table_in_the_docs_has_every_family_above_the_minimum_and_every_reason() -> None:
    text = mutants.TABLE.read_text(encoding="utf-8")
    scores = dict(re.findall(r"^\| (\w+) \| \d+ \| \d+ \| ([\d.]+)% \|", text, re.MULTILINE))
    not_run = re.findall(r"^\| (\w+) \| not run \|", text, re.MULTILINE)
    assert sorted([*scores, *not_run]) == catalog.fixes()
    assert all(float(value) >= 100 * mutants.MINIMUM_SCORE for value in scores.values())
    for survivor, reason in mutants.reasons().items():
        assert len(reason) > 10
        assert f"{survivor.change}\n```\n\n{reason}" in text
