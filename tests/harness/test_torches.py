import os
import stat
import sys

import pytest
from click.testing import CliRunner

from matrix import cli, environments, torches

GOOD = '[[torch]]\nversion = "2.4.1"\npython = ">=3.8"\n\n[[torch]]\nversion = "2.10.0"\npython = ">=3.10"\nnumpy = "<3"\n'


@pytest.fixture
def axis(tmp_path):
    def write(text):
        path = tmp_path / "torches.toml"
        path.write_text(text)
        return path

    return write


def test_the_axis_is_read_oldest_first(axis):
    older, newer = torches.load(axis(GOOD))
    assert (older.version, older.minor, newer.minor) == ("2.4.1", "2.4", "2.10")
    assert newer.requirements == ["torch==2.10.0", "numpy<3", "setuptools"]


def test_the_projects_own_axis_is_in_order():
    assert [torch.minor for torch in torches.load()][:2] == ["1.13", "2.0"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[torch]\n", "not TOML"),
        ("", "no [[torch]] entry"),
        ('[[torch]]\npython = ">=3.8"\n', "entry 1 (no version): version is missing"),
        ('[[torch]]\nversion = "2.4.1"\n', "entry 1 (2.4.1): python is missing"),
        ('[[torch]]\nversion = "two"\npython = ">=3.8"\n', "version = 'two' is not a PEP 440 version"),
        ('[[torch]]\nversion = "2.4.1"\npython = "3.8 on"\n', "python = '3.8 on' is not a PEP 440 specifier"),
        ('[[torch]]\nversion = "2.4.1"\npython = ">=9"\n', "python = '>=9' admits no interpreter"),
        ('[[torch]]\nversion = "2.4.1"\npython = ">=3.8"\nnunpy = "<2"\n', "unknown key 'nunpy'; expected numpy, python"),
        (GOOD + '[[torch]]\nversion = "2.9.0"\npython = ">=3.8"\n', "2.9.0 after 2.10.0: expected one entry per minor, oldest first"),
        (GOOD + '[[torch]]\nversion = "2.10.1"\npython = ">=3.8"\n', "2.10.1 after 2.10.0: expected one entry per minor"),
    ],
)
def test_a_bad_entry_is_named(axis, text, message):
    with pytest.raises(torches.TorchesError) as error:
        torches.load(axis(text))
    assert message in str(error.value)


def test_torches_are_found_by_minor_or_by_version(axis):
    both = torches.load(axis(GOOD))
    assert torches.find(both, ("2.10", "2.4.1")) == both
    assert torches.find(both, ()) == both
    with pytest.raises(torches.TorchesError, match=r"no torch 2\.5 in torches\.toml; it has 2\.4, 2\.10"):
        torches.find(both, ("2.5", "2.4"))


def test_an_interpreter_is_chosen_that_has_wheels():
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert torches.Torch("2.4.1", ">=3.8").interpreter() == here
    assert torches.Torch("0.1", "<3.9,>=3.7").interpreter() == "3.8"


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
    """A uv that does as it is told and writes down what it was asked; `envs` is where environments go."""

    def install(own_build="exit 0", default="exit 0", released="2.10.0, 2.4.1"):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        log = tmp_path / "log"
        script = folder / "uv"
        script.write_text(UV.format(log=log, cache=tmp_path / "cache", own_build=own_build, default=default, released=released))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        return log

    return install


TORCH = torches.Torch("2.4.1", ">=3.8", numpy="<2")


def test_an_environment_is_made_used_and_removed(uv, tmp_path):
    log = uv()
    with environments.environment(TORCH, root=tmp_path / "envs") as python:
        assert python == str(tmp_path / "envs/torch-2.4.1-cpu/bin/python")
        assert os.path.exists(python)
    assert list((tmp_path / "envs").iterdir()) == []
    assert "--torch-backend cpu torch==2.4.1 numpy<2 setuptools" in log.read_text()
    with environments.environment(TORCH, "cuda", tmp_path / "envs"):
        assert "--torch-backend auto torch==2.4.1" in log.read_text()


def test_where_pytorchs_index_cannot_be_reached_the_default_one_serves(uv, tmp_path):
    log = uv(own_build="exit 2")
    with environments.environment(TORCH, root=tmp_path / "envs"):
        pass
    assert [line for line in log.read_text().splitlines() if line.startswith("pip")][-1].endswith("torch==2.4.1 numpy<2 setuptools")


@pytest.mark.parametrize(
    "text", ["no wheels with a matching Python version tag", "dns error: Name or service not known", "No space left on device"]
)
def test_what_stopped_an_installation_is_said_and_nothing_is_left(uv, tmp_path, text):
    uv(own_build="exit 2", default=f"echo 'error: {text}' >&2; exit 1")
    with (
        pytest.raises(environments.EnvironmentFailed, match=f"torch 2.4.1: error: {text}"),
        environments.environment(TORCH, root=tmp_path / "envs"),
    ):
        pass
    assert list((tmp_path / "envs").iterdir()) == []


def test_kept_environments_serve_again_and_interrupted_ones_are_made_anew(uv, tmp_path):
    log = uv()
    envs = tmp_path / "envs"
    with environments.environment(TORCH, root=envs, keep=True):
        pass
    first = log.read_text()
    with environments.environment(TORCH, root=envs, keep=True) as python:
        assert log.read_text() == first
    (envs / "torch-2.4.1-cpu/complete").unlink()  # as a kill in the middle leaves it
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


def test_without_uv_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(environments.EnvironmentFailed, match="pip install uv"):
        environments.find_uv()


@pytest.mark.parametrize(
    ("released", "lacking"),
    [
        ("2.10.0, 2.4.1, 2.4.0", []),
        ("2.11.0, 2.10.2, 2.10.0, 2.4.1", ["2.10.2", "2.11.0"]),
        ("2.12.0rc1, 2.10.0, 2.4.1, 2.3.9, 1.0", []),  # pre-releases, and what is older than the axis
    ],
)
def test_releases_that_are_not_listed_are_noticed(uv, axis, released, lacking):
    uv(released=released)
    assert torches.missing(torches.load(axis(GOOD)), environments.find_uv()) == lacking


def test_torches_check_is_red_until_the_release_is_listed(uv):
    newest = torches.load()[-1].version
    everything = ", ".join(torch.version for torch in torches.load())
    uv(released=everything)
    good = CliRunner().invoke(cli.main, ["torches", "--check"])
    assert (good.exit_code, newest.rsplit(".", 1)[0] in good.output) == (0, True)
    uv(released="99.0.0, " + everything)
    bad = CliRunner().invoke(cli.main, ["torches", "--check"])
    assert bad.exit_code == 1
    assert "torch 99.0.0 is released and not in torches.toml" in bad.output


def test_an_index_that_does_not_answer_is_not_taken_for_an_empty_one(tmp_path, monkeypatch):
    script = tmp_path / "uv"
    script.write_text("#!/bin/sh\necho 'dns error' >&2\nexit 2\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    result = CliRunner().invoke(cli.main, ["torches", "--check"])
    assert result.exit_code == 3
    assert "the package index did not answer: dns error" in result.output
