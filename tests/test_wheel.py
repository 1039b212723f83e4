"""Tests the installed wheel: its single package, and the commands that need no clone."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from matrix import catalog

UV = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))


def run(*command, **options):
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, **options
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy because setuptools leaves a build folder next to the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in run(*command, cwd=catalog.ROOT).splitlines():
        if (catalog.ROOT / name).is_file():
            (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(catalog.ROOT / name, folder / "source" / name)
    run(UV, "build", "--quiet", "--wheel", "--out-dir", folder, folder / "source")
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Returns a function that runs torch-repros in an environment with only the wheel."""
    folder = tmp_path_factory.mktemp("installed")
    run(UV, "venv", "--quiet", "--python", sys.executable, folder / "venv")
    python = next(path for path in (folder / "venv").glob("*/python*") if path.stem == "python")
    run(UV, "pip", "install", "--quiet", "--python", python, wheel)
    (folder / "a folder with ü").mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def call(*arguments, status=0):
        command = [str(python.with_name("torch-repros")), *map(str, arguments)]
        cwd = folder / "a folder with ü"
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
        assert done.returncode == status, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    call.site_packages = next((folder / "venv").rglob("torch_repros")).parent
    return call


def state(folder):
    """The size and modification time of every file except Python's bytecode."""
    return {
        path: (path.stat().st_size, path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


pytestmark = pytest.mark.xdist_group("wheel")


def test_the_wheel_owns_one_name(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {
        "torch_repros",
        "torch_repros-0.1.0.dist-info",
    }


def test_the_wheel_holds_everything_that_its_commands_read(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = run(
        "git", "ls-files", "matrix", "repros", "reference_fixes", "tests/fixes", cwd=catalog.ROOT
    )
    inside = {
        name if name.startswith(("repros", "reference", "tests")) else name[len("matrix/") :]
        for name in tracked.splitlines()
    }
    assert {
        f"torch_repros/{name}" for name in inside if not Path(name).name.startswith(".")
    } <= names
    assert not [name for name in names if "__pycache__" in name]


def test_every_command_that_needs_no_clone_works_and_writes_nothing_into_the_package(
    installed, tmp_path
):
    before = state(installed.site_packages)
    assert len(json.loads(installed("list", "--json"))) == len(catalog.select(catalog.load(), ()))
    assert "rnn/backward_in_eval_mode" in installed(
        "explain", "cudnn RNN backward can only be called in training mode"
    )
    assert "loss/mismatch_zero_is_silent" in installed("search", "loss stays constant")
    assert "def reproduce(device)" in installed("show", "amp/unscale_twice")
    assert "### Versions" in installed("cite", "amp/fused_sgd_skip_leaves_garbage")
    assert "reproduced" in installed(
        "run", "amp/unscale_twice", "--device", "cpu", "--python", sys.executable
    )
    copies = tmp_path / "acme/_vendor"
    assert "wrote " in installed("vendor", *catalog.fixes(), "--tests", "--into", copies)
    assert "unchanged" in installed("vendored", copies)
    assert "2.15" in installed("torches")
    assert "first good" in installed("bisect", "amp/autocast_cache_under_no_grad")
    assert state(installed.site_packages) == before


def test_what_needs_a_clone_says_so(installed):
    for name in ("new", "headers", "lint", "grid", "site"):
        assert "run it in a clone of the repository" in " ".join(installed(name, status=2).split())
        assert f"\n  {name} " not in installed("--help")


def test_recording_asks_for_a_folder_of_its_own(installed, tmp_path):
    refused = " ".join(
        installed(
            "record", "--python", sys.executable, "--only", "amp/unscale_twice", status=2
        ).split()
    )
    assert "--records" in refused
    arguments = (
        "--python",
        sys.executable,
        "--only",
        "amp/unscale_twice",
        "--repeat",
        "1",
        "--records",
        tmp_path / "mine",
    )
    installed("record", *arguments)
    assert list((tmp_path / "mine").glob("*.json"))
