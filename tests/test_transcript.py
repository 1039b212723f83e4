"""Replays the transcript of docs/vendoring.md, and runs vendored tests on edited copies."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from matrix import catalog
from matrix.vendoring import copies, making

DOCS = catalog.ROOT / "docs/vendoring.md"
PUBLISH = """#!/bin/sh
set -e
cd {clone}
sed -i "$1" "$2"
{commit} --all --message moved
"""
COMMIT = "git -c user.name=upstream -c user.email=upstream@example.org commit --quiet"  # as in conftest.py
needs_shell_and_git = pytest.mark.skipif(
    sys.platform != "linux" or not (catalog.ROOT / ".git").exists(),
    reason="replays GNU sed in a shell, over a git checkout",
)


def steps():
    """Yields (command, expected output) for every line with "$ " in a console block."""
    for block in re.findall(r"```console\n(.*?)```", DOCS.read_text(), re.S):
        yield from re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)


@pytest.fixture
def tools(tmp_path, clone):
    """A folder for PATH that contains uvx, the Python of this suite, and publish."""
    folder = tmp_path / "tools"
    folder.mkdir()
    uvx = shutil.which("uvx") or str(Path(sys.executable).with_name("uvx"))
    (folder / "uvx").symlink_to(uvx)
    (folder / "python").symlink_to(sys.executable)
    (folder / "publish").write_text(PUBLISH.format(clone=clone, commit=COMMIT))
    (folder / "publish").chmod(0o755)
    return folder


@needs_shell_and_git
def test_the_transcript_is_what_happens(tmp_path, clone, tools):
    project = tmp_path / "project"
    (project / "src/acme/_vendor").mkdir(parents=True)
    for package in ("src/acme", "src/acme/_vendor"):
        (project / package / "__init__.py").touch()
    # a link to this suite's interpreter does not find the site-packages with torch
    site = [str(project / "src"), *(path for path in sys.path if path.endswith("site-packages"))]
    environment = {
        **os.environ,
        "FROM": f"git+file://{clone}",
        "PATH": os.pathsep.join([str(tools), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(site),
    }
    replayed = 0
    for command, expected in steps():
        # uvx creates its own environment, which must not see the packages of this environment
        own = {"PYTHONPATH": ""} if command.startswith("uvx") else {}
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=project,
            env=environment | own,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        printed = re.sub(r"(sha256 of what follows: |0\.1\.0\+g)\w+", r"\1...", done.stdout)
        assert printed == expected, command
        replayed += 1
    assert replayed == DOCS.read_text().count("\n$ ") > 0


def test_vendored_tests_run_on_the_copies_and_notice_a_broken_promise(tmp_path):
    target = tmp_path / "src/acme/_vendor"
    making.vendor(["loss"], target, tests=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command.append("src/acme/_vendor/tests")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (target / "loss.py").read_text()
    assert "if selected == 0:" in text
    (target / "loss.py").write_text(text.replace("if selected == 0:", "if False:"))
    command += ["-k", "masked_mean"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "FAILED src/acme/_vendor/tests/test_loss.py::test_masked_mean" in done.stdout
    vendored, problems = copies.read(target)
    assert {copy.path.name: copy.edited for copy in vendored if copy.edited} == {"loss.py": True}
    assert not problems
