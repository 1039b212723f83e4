"""Tests environments with a fake uv, so nothing is installed."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest

from matrix import torches
from matrix.run import environments

UV = """#!/bin/sh
echo "$@" >> {log}
case "$1 $2" in
    "cache dir") echo {cache} ;;
    "venv --quiet") mkdir -p "$5/bin" && touch "$5/bin/python" ;;
    "pip install")
        case "$*" in
            *--torch-backend*) {own_build} ;;
            *) {default} ;;
        esac ;;
    "tool run") echo 'torch (2.12.0)'; echo 'Available versions: {released}' ;;
esac
"""


@pytest.fixture
def uv(tmp_path, monkeypatch):
    """Returns a function that installs a fake uv, which logs its arguments."""

    def install(own_build="exit 0", default="exit 0", released="2.10.0, 2.4.1"):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        log = tmp_path / "log"
        script = folder / "uv"
        script.write_text(
            UV.format(
                log=log,
                cache=tmp_path / "cache",
                own_build=own_build,
                default=default,
                released=released,
            )
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        return log

    return install


TORCH = torches.Torch("2.4.1", ">=3.8", numpy="<2")
RELEASES = [TORCH, torches.Torch("2.10.0", ">=3.10")]


def folders(envs):
    return [path.name for path in envs.iterdir() if path.is_dir()]


def test_an_environment_is_made_used_and_removed(uv, tmp_path):
    log = uv()
    with environments.environment(TORCH, root=tmp_path / "envs") as python:
        assert python == str(tmp_path / "envs/torch-2.4.1-cpu/bin/python")
        assert os.path.exists(python)
    assert folders(tmp_path / "envs") == []
    assert "--torch-backend cpu torch==2.4.1 numpy<2 setuptools" in log.read_text()
    with environments.environment(TORCH, "cuda", tmp_path / "envs"):
        assert "--torch-backend auto torch==2.4.1" in log.read_text()


def test_an_environment_is_not_handed_other_packages(uv, tmp_path, monkeypatch):
    uv()
    monkeypatch.setenv("PYTHONPATH", "another/torch")
    with environments.environment(TORCH, root=tmp_path / "envs"):
        assert "PYTHONPATH" not in os.environ
    assert os.environ["PYTHONPATH"] == "another/torch"


@pytest.mark.parametrize("printed", ["error: no index", r"error: \377"])
def test_where_pytorchs_index_cannot_be_reached_the_default_one_serves(uv, tmp_path, printed):
    log = uv(own_build=f"printf '{printed}' >&2; exit 2")
    with environments.environment(TORCH, root=tmp_path / "envs"):
        pass
    assert [line for line in log.read_text().splitlines() if line.startswith("pip")][-1].endswith(
        "torch==2.4.1 numpy<2 setuptools"
    )


@pytest.mark.parametrize(
    "text",
    [
        "no wheels with a matching Python version tag",
        "dns error: Name or service not known",
        "No space left on device",
    ],
)
def test_what_stopped_an_installation_is_reported_and_nothing_is_left(uv, tmp_path, text):
    uv(own_build="exit 2", default=f"echo 'error: {text}' >&2; exit 1")
    with (
        pytest.raises(environments.EnvironmentFailed, match=f"torch 2.4.1: error: {text}"),
        environments.environment(TORCH, root=tmp_path / "envs"),
    ):
        pass
    assert folders(tmp_path / "envs") == []


def test_kept_environments_serve_again_and_interrupted_ones_are_made_again(uv, tmp_path):
    log = uv()
    envs = tmp_path / "envs"
    with environments.environment(TORCH, root=envs, keep=True):
        pass
    first = log.read_text()
    with environments.environment(TORCH, root=envs, keep=True) as python:
        assert log.read_text() == first
    (envs / "torch-2.4.1-cpu/complete").unlink()  # the state after a kill during the installation
    (envs / "torch-2.4.1-cpu/half").touch()
    with environments.environment(TORCH, root=envs) as python:
        assert os.path.exists(python)
        assert not (envs / "torch-2.4.1-cpu/half").exists()


def test_a_small_disk_keeps_nothing_in_the_cache(uv, tmp_path, monkeypatch):
    log = uv()
    monkeypatch.setattr(environments, "SMALL_DISK", 2**63)
    with environments.environment(TORCH, root=tmp_path / "envs"):
        pass
    assert "--no-cache" in log.read_text()


def test_environments_go_beside_uvs_cache(uv, tmp_path):
    uv()
    with environments.environment(TORCH) as python:
        assert python.startswith(str(tmp_path / "torch-repros"))


def test_without_uv_the_error_names_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(environments.EnvironmentFailed, match="pip install uv"):
        environments.find_uv()


def test_a_removal_that_was_interrupted_leaves_no_environment(uv, tmp_path, monkeypatch):
    uv()
    envs = tmp_path / "envs"
    with monkeypatch.context() as killed:
        killed.setattr(environments.shutil, "rmtree", lambda *arguments, **options: None)
        with environments.environment(TORCH, root=envs):
            pass
    (envs / "torch-2.4.1-cpu/bin/python").unlink()  # deleted by rmtree before the kill
    with environments.environment(TORCH, root=envs) as python:
        assert os.path.exists(python)


def test_a_second_user_of_an_environment_waits_until_the_first_has_done(uv, tmp_path):
    uv()
    entered, seen = threading.Event(), []

    def second():
        entered.set()
        with environments.environment(TORCH, root=tmp_path / "envs") as python:
            seen.append(os.path.exists(python))

    with environments.environment(TORCH, root=tmp_path / "envs") as python:
        other = threading.Thread(target=second)
        other.start()
        entered.wait()
        other.join(0.3)
        assert seen == []
        assert os.path.exists(python)
    other.join(30)
    assert seen == [True]


PROGRAM = """
import sys
from pathlib import Path
from matrix import torches
from matrix.run import environments
with environments.environment(torches.Torch("2.4.1", ">=3.8"), root=Path(sys.argv[1])):
    pass
"""


def test_ended_by_a_signal_it_leaves_neither_uv_nor_the_folder(uv, tmp_path):
    log = uv(own_build=f"echo $$ > {tmp_path / 'pid'}; exec sleep 60")
    maker = subprocess.Popen([sys.executable, "-c", PROGRAM, tmp_path / "envs"])
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().endswith("\n"):
        assert maker.poll() is None, log.read_text()
        time.sleep(0.01)
    pid = int((tmp_path / "pid").read_text())
    maker.terminate()
    assert maker.wait(30) == 128 + signal.SIGTERM
    assert folders(tmp_path / "envs") == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(
    ("released", "missing"),
    [
        ("2.10.0, 2.4.1, 2.4.0", []),
        ("2.11.0, 2.10.2, 2.10.0, 2.4.1", ["2.10.2", "2.11.0"]),
        (
            "2.12.0rc1, 2.10.0, 2.4.1, 2.3.9, 1.0",
            [],
        ),  # pre-releases, and releases older than the listed ones
    ],
)
def test_releases_that_are_not_listed_are_noticed(uv, released, missing):
    uv(released=released)
    assert environments.missing_releases(RELEASES, environments.find_uv()) == missing


def test_an_index_that_does_not_answer_is_not_taken_for_an_empty_one(tmp_path):
    script = tmp_path / "uv"
    script.write_text("#!/bin/sh\necho 'dns error' >&2\nexit 2\n")
    script.chmod(0o755)
    with pytest.raises(environments.EnvironmentFailed) as error:
        environments.missing_releases(RELEASES, str(script))
    assert str(error.value) == "the package index did not answer: dns error"
