from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from matrix import catalog
from matrix.scan import scanning
from tests.trials.scan_recall import __main__ as trial
from tests.trials.scan_recall.__main__ import Place, Script
from tests.trials.shared import NotMeasured

RULES = scanning.rules(catalog.ruled(catalog.load()))
ID = "autograd/require_grad_is_misspelt"
TRAIN = "import torch\nfor p in model.parameters():\n    p.require_grad = False\n"


def place(path: str = "train.py", half: str = "sealed", **other: str | None) -> Place:
    fields = {"id": ID, "level": "error", "why": "", **other}
    return Place(repository="o/n", commit="c", path=path, line=3, half=half, **fields)  # type: ignore[arg-type]


def test_every_place_names_a_reproducer_and_a_script() -> None:
    ids = {reproducer.id for reproducer in catalog.load()}
    read = {(script.repository, script.commit, script.half) for script in trial.scripts()}
    assert {script.half for script in trial.scripts()} == set(trial.HALVES)
    for each in trial.places():
        assert each.id is None or each.id in ids, each
        assert (each.repository, each.commit, each.half) in read, each
        assert each.level in ("error", "warning", "note"), each


def test_what_is_named_in_the_same_file_is_found() -> None:
    answers = {("o/n", "train.py", ID)}
    every = [
        place(),
        place("other.py"),
        place(id="amp/unscale_twice"),
        place(id=None),
        place(level="note"),
        place(half="tuning"),
    ]
    assert trial.counts("sealed", every, answers) == ((2, 4), (1, 3), 5)
    assert trial.counts("tuning", every, answers) == ((1, 1), (1, 1), 1)


def test_a_share_below_the_target_is_a_problem() -> None:
    assert trial.problems([place()], {("o/n", "train.py", ID)}) == []
    assert trial.problems([place()], set()) == ["sealed: 0 of 1 (0 %) found, at least 20 %"]


def test_a_repository_is_read_at_its_commit(tmp_path: Path) -> None:
    clone = tmp_path / "mirrors/o+n"
    clone.mkdir(parents=True)

    def git(*arguments: str) -> str:
        own = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(
            ["git", *own, *arguments], cwd=clone, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "--quiet")
    (clone / "train.py").write_text(TRAIN)
    git("add", ".")
    git("commit", "--quiet", "--message", "first")
    script = Script("o/n", git("rev-parse", "HEAD"), "train.py", 3, "sealed")
    (clone / "train.py").write_text("")
    git("commit", "--quiet", "--all", "--message", "second")
    (clone / ".git").rename(tmp_path / "mirrors/git")
    (tmp_path / "mirrors/git").rename(clone / "repo")
    answers = trial.found([script], RULES, tmp_path / "mirrors", tmp_path / "cache")
    assert ("o/n", "train.py", ID) in answers


def test_a_repository_without_a_clone_is_not_measured(tmp_path: Path) -> None:
    script = Script("o/n", "c", "train.py", 3, "sealed")
    with pytest.raises(NotMeasured, match="no clone of o/n"):
        trial.found([script], RULES, tmp_path, tmp_path / "cache")
