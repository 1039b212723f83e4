"""Replays the transcript of docs/vendoring.md as a new user would type it: an empty project, uvx, a git URL."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from matrix import catalog

DOCS = catalog.ROOT / "docs/vendoring.md"
PUBLISH = """#!/bin/sh
set -e
cd {clone}
sed -i "$1" "$2"
git -c user.name=upstream -c user.email=upstream@example.org commit --quiet --all --message moved
"""


def steps():
    """(command, expected output) of every line that starts with "$ " in a console block."""
    for block in re.findall(r"```console\n(.*?)```", DOCS.read_text(), re.S):
        yield from re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


@pytest.mark.skipif(sys.platform == "win32" or not (catalog.ROOT / ".git").exists(), reason="replays a shell over a git checkout")
def test_the_transcript_is_what_happens(tmp_path):
    uvx = shutil.which("uvx") or str(Path(sys.executable).with_name("uvx"))
    clone, tools, project = tmp_path / "clone", tmp_path / "tools", tmp_path / "project"
    # the tree as it is now, committed or not, as an upstream of its own
    files = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=catalog.ROOT).splitlines()
    for file in (name for name in files if (catalog.ROOT / name).is_file()):
        (clone / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(catalog.ROOT / file, clone / file)
    run("git", "init", "--quiet", cwd=clone)
    run("git", "add", "--all", cwd=clone)
    run("git", "-c", "user.name=upstream", "-c", "user.email=upstream@example.org", "commit", "--quiet", "--message", "first", cwd=clone)
    tools.mkdir()
    (tools / "publish").write_text(PUBLISH.format(clone=clone))
    (tools / "publish").chmod(0o755)
    (tools / "uvx").symlink_to(uvx)
    (tools / "python").symlink_to(sys.executable)
    (project / "src/acme/_vendor").mkdir(parents=True)
    for package in ("src/acme", "src/acme/_vendor"):
        (project / package / "__init__.py").touch()
    # the interpreter of this suite has torch; a link to it alone would lose its site-packages
    site = os.pathsep.join([str(project / "src"), *(path for path in sys.path if path.endswith("site-packages"))])
    environment = {**os.environ, "FROM": f"git+file://{clone}", "PYTHONPATH": site, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    replayed = 0
    for command, expected in steps():
        # uvx makes an environment of its own, which must not see this one's packages
        isolated = {**environment, "PYTHONPATH": ""} if command.startswith("uvx") else environment
        done = subprocess.run(
            ["bash", "-c", command], cwd=project, env=isolated, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        seen = re.sub(r"(sha256 of what follows: )\w+", r"\1...", done.stdout)
        assert seen == expected, command
        replayed += 1
    assert replayed == 12
