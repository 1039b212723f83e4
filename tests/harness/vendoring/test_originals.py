"""Tests how the revision of a copy is found, and which texts are known."""

import json
import subprocess
from importlib import metadata

import pytest

from matrix import __version__, catalog, checks
from matrix.vendoring import originals
from tests.harness.helpers import call

IN_A_CLONE = pytest.mark.skipif(
    not (catalog.ROOT / ".git").exists(), reason="asks git for the commits of this clone"
)


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """A temporary copy of the list of texts."""
    copy = tmp_path / "fix_texts.txt"
    copy.write_bytes(originals.TEXTS.read_bytes())
    monkeypatch.setattr(originals, "TEXTS", copy)
    return copy


def test_every_text_of_today_is_listed():
    assert originals.problems() == []


def test_a_text_that_is_not_listed_is_a_problem_that_names_the_command(listed):
    sha = originals.digest(originals.upstream("reference_fixes/amp.py"))
    lines = listed.read_text()
    listed.write_text(lines.replace(f"reference_fixes/amp.py {sha}\n", ""))
    problem = (
        f"{catalog.FIXES / 'amp.py'}:1: its text is not in fix_texts.txt; run: torch-repros fixes"
    )
    assert problem in checks.lint()
    assert call("fixes").output == f"{listed}: 1 text added\n"
    assert listed.read_text() == lines
    assert call("fixes").output == f"{listed}: 0 texts added\n"


@IN_A_CLONE
def test_the_list_is_made_of_the_commits_and_of_what_a_shallow_clone_lists(listed):
    before = listed.read_text().splitlines()
    listed.write_text(f"<<<<<<< HEAD\ntests/fixes/test_gone.py {'0' * 64}\n=======\n")
    call("fixes")
    shas = {line.split()[1] for line in listed.read_text().splitlines()}
    assert "0" * 64 in shas
    assert "<" not in listed.read_text()
    log = [
        "git",
        "log",
        "--format=%H",
        "--diff-filter=AM",
        "-n",
        "2",
        "--",
        "reference_fixes/amp.py",
    ]
    commits = subprocess.run(log, cwd=catalog.ROOT, capture_output=True, text=True).stdout.split()
    for commit in commits:
        show = ["git", "show", f"{commit}:reference_fixes/amp.py"]
        text = subprocess.run(show, cwd=catalog.ROOT, capture_output=True, check=True).stdout
        sha = originals.digest(text.decode())
        assert sha in shas
        assert f"reference_fixes/amp.py {sha}" in before


@IN_A_CLONE
def test_in_a_clone_the_version_names_the_commit():
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=catalog.ROOT, capture_output=True, text=True
    ).stdout
    assert originals.version() == f"{__version__}+g{head[:10]}"


@pytest.mark.parametrize(
    ("source", "version"),
    [
        ({"vcs_info": {"vcs": "git", "commit_id": "0123456789abcdef"}}, "+g0123456789"),
        ({"url": "file:///home/me/torch-repros", "dir_info": {}}, ""),
        (None, ""),  # installed from an index
    ],
)
def test_an_installation_from_git_names_its_commit_too(tmp_path, monkeypatch, source, version):
    class Installed:
        def read_text(self, name):
            return json.dumps(source) if source and name == "direct_url.json" else None

    monkeypatch.setattr(catalog, "ROOT", tmp_path)
    monkeypatch.setattr(metadata, "distribution", lambda name: Installed())
    assert originals.version.__wrapped__() == __version__ + version
