"""Tests which findings of a branch are new."""

import json
import subprocess

import pytest

from matrix import catalog
from matrix.scan import changed, files, scanning

RULES = scanning.rules(catalog.load())
BAD = """\
import torch

def train(scaler, optimizer, model, loss):
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""
GOOD = BAD.replace("    torch.nn", "    scaler.unscale_(optimizer)\n    torch.nn")


@pytest.fixture
def git(tmp_path):
    def git(*arguments):
        own = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *own, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-b", "main")
    (tmp_path / "bad.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "good.py").write_text(GOOD, encoding="utf-8")
    git("add", ".")
    git("commit", "-m", "one")
    git("switch", "-c", "branch")
    return git


def new(folder):
    """The places of the branch's new findings."""
    branches = changed.since("main", [folder])
    paths = [path for path in files.find([folder]) if branches[0].has_changed(path)]
    findings, _ = scanning.scan(paths, RULES)
    findings = changed.new(findings, paths, branches, RULES)
    return [(finding.path.name, finding.line) for finding in findings]


def test_a_line_that_is_deleted_brings_what_it_held_back(git, tmp_path):
    (tmp_path / "good.py").write_text(BAD, encoding="utf-8")
    assert new(tmp_path) == [("good.py", 5)]
    git("commit", "-am", "two")
    assert new(tmp_path) == [("good.py", 5)]


def test_what_was_there_before_does_not_count(git, tmp_path):
    text = BAD.replace("import torch\n", "import torch\n# a comment\nimport os\n")
    (tmp_path / "bad.py").write_text(text.replace("loss)", "loss, more)"), encoding="utf-8")
    assert new(tmp_path) == []
    wrapped = BAD.replace("(model.parameters(), 1.0)", "(\n        model.parameters(), 1.0,\n    )")
    (tmp_path / "bad.py").write_text(wrapped, encoding="utf-8")
    assert new(tmp_path) == []


def test_a_changed_line_counts_and_so_does_the_last_of_several(git, tmp_path):
    (tmp_path / "bad.py").write_text(BAD.replace("1.0)", "2.0)"), encoding="utf-8")
    assert new(tmp_path) == [("bad.py", 5)]
    wrapped = BAD.replace(
        "(model.parameters(), 1.0)", "(\n        model.parameters(),\n        2.0)"
    )
    (tmp_path / "bad.py").write_text(wrapped, encoding="utf-8")
    assert new(tmp_path) == [("bad.py", 5)]


def test_a_new_file_counts_committed_or_not_but_not_an_ignored_one(git, tmp_path):
    (tmp_path / 'new ä "b".py').write_text(BAD, encoding="utf-8")
    git("add", ".")
    git("commit", "-m", "two")
    (tmp_path / "untracked.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "ignored.py").write_text(BAD, encoding="utf-8")
    (tmp_path / ".gitignore").write_text("ignored.py\nbad.py\n", encoding="utf-8")
    assert new(tmp_path) == [('new ä "b".py', 5), ("untracked.py", 5)]


def test_a_file_that_is_renamed_brings_nothing(git, tmp_path):
    (tmp_path / "bad.py").rename(tmp_path / "other.py")
    assert new(tmp_path) == []
    git("add", ".")
    git("commit", "-m", "two")
    assert new(tmp_path) == []
    (tmp_path / "other.py").write_text(f"import os\n{BAD}{BAD[14:]}", encoding="utf-8")
    assert new(tmp_path) == [("other.py", 11)]  # the second copy of the code


def test_of_two_places_that_are_equal_the_new_one_is_told(git, tmp_path):
    copy = BAD.replace("train", "copied")
    (tmp_path / "bad.py").write_text(copy + BAD[14:], encoding="utf-8")
    assert new(tmp_path) == [("bad.py", 5)]
    (tmp_path / "bad.py").write_text(BAD + copy[14:], encoding="utf-8")
    assert new(tmp_path) == [("bad.py", 10)]


@pytest.mark.parametrize(
    ("settings", "attributes", "variables"),
    [
        ({"diff.interHunkContext": "8", "diff.context": "9"}, "", {}),
        ({"diff.external": "true", "diff.renames": "false", "diff.noprefix": "true"}, "", {}),
        ({"diff.odd.textconv": "true", "diff.odd.command": "true"}, "*.py diff=odd", {}),
        ({}, "*.py -diff\n*.ipynb -diff", {}),
        ({}, "* binary", {}),
        ({"filter.odd.clean": "true"}, "*.py filter=odd", {}),
        ({}, "", {"GIT_DIFF_OPTS": "-u10", "GIT_EXTERNAL_DIFF": "true"}),
        ({"core.quotePath": "true", "core.autocrlf": "true"}, "", {}),
    ],
)
def test_no_setting_attribute_or_variable_hides_a_file(
    git, tmp_path, monkeypatch, settings, attributes, variables
):
    (tmp_path / "good.py").write_text(BAD.replace("import torch\n", "import torch\n++ x\n"))
    cells = [{"cell_type": "code", "source": BAD}]
    (tmp_path / "a.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    git("add", ".")
    git("commit", "-m", "two")
    for key, value in settings.items():
        git("config", key, value)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (tmp_path / ".gitattributes").write_text(attributes, encoding="utf-8")
    assert new(tmp_path) == [("a.ipynb", 5), ("good.py", 6)]


@pytest.mark.parametrize("clean", ["echo pointer", "cat"])  # as git-lfs does
def test_a_file_that_git_stores_in_another_form_brings_nothing_unless_it_changes(
    git, tmp_path, clean
):
    git("config", "filter.odd.clean", clean)
    (tmp_path / ".gitattributes").write_text("bad.py filter=odd\n", encoding="utf-8")
    (tmp_path / "bad.py").touch()
    git("add", ".")
    git("commit", "-m", "two")
    git("branch", "-f", "main")
    assert new(tmp_path) == []
    (tmp_path / "good.py").write_text(BAD, encoding="utf-8")
    git("add", ".")
    assert new(tmp_path) == [("good.py", 5)]


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_a_bit_in_the_index_hides_no_file(git, tmp_path, bit):
    git("update-index", bit, "good.py")
    (tmp_path / "good.py").write_text(BAD, encoding="utf-8")
    assert new(tmp_path) == [("good.py", 5)]


def test_a_notebook_brings_only_what_its_cells_did_not_have(git, tmp_path):
    def write(*cells):
        kinds = [{"cell_type": "code", "source": text} for text in cells]
        (tmp_path / "a.ipynb").write_text(json.dumps({"nbformat": 4, "cells": kinds}))

    write("import torch", BAD)
    git("add", ".")
    git("commit", "-m", "two")
    git("branch", "-f", "main")
    write("import os", "import torch", BAD)
    assert new(tmp_path) == []
    write("import torch", BAD, BAD.replace("1.0)", "2.0)"))
    assert new(tmp_path) == [("a.ipynb", 5)]


def test_what_main_changed_meanwhile_does_not_count(git, tmp_path):
    git("switch", "main")
    (tmp_path / "bad.py").write_text(GOOD, encoding="utf-8")
    git("commit", "-am", "on main")
    git("switch", "branch")
    assert new(tmp_path) == []


def test_a_file_that_was_not_python_before_counts_fully(git, tmp_path):
    (tmp_path / "bad.py").write_text("torch(", encoding="utf-8")
    git("commit", "-am", "two")
    git("branch", "-f", "main")
    (tmp_path / "bad.py").write_text(BAD, encoding="utf-8")
    assert new(tmp_path) == [("bad.py", 5)]


@pytest.mark.parametrize("base", ["nowhere", "--output=x", ""])
def test_a_base_that_git_does_not_know_is_refused(git, tmp_path, base):
    with pytest.raises(changed.GitError):
        changed.since(base, [tmp_path])
    assert not (tmp_path / "x").exists()


def test_a_folder_without_git_is_refused(tmp_path):
    with pytest.raises(changed.GitError, match="not a git repository"):
        changed.since("main", [tmp_path])
