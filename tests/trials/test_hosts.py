from __future__ import annotations

import importlib.metadata
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from matrix import torches
from matrix.checks import NAMES
from tests.trials.hosts import __main__ as hosts
from tests.trials.hosts import measuring
from tests.trials.hosts.case import CASES, Case, Differs, same
from tests.trials.hosts.measuring import HOLDS, HOSTS, Row, pins

PYTEST = importlib.metadata.version("pytest")  # an installed package that stands in for a host


def a_case(run: Callable[[], None] = lambda: None, host: str = "pytest") -> Case:
    return Case(host, "amp.windows", "trains", "does not", run)


def differs() -> None:
    raise Differs("1, not 2 | or so")


def crashes() -> None:
    raise KeyError("missing")


def noise() -> None:
    os.write(1, b"noise")


def test_the_table_in_the_docs_has_every_case_in_its_pinned_version_and_all_hold() -> None:
    text = hosts.TABLE.read_text(encoding="utf-8")
    release = re.search(r" on torch (\S+), ", text)
    assert release
    assert release[1] in {torch.version for torch in torches.load()}
    versions = {**pins(), "torch": release[1]}
    cases = [case for host in HOSTS for case in CASES if case.host == host]
    wanted = hosts.rows(Row(case, versions[case.host], HOLDS) for case in cases)
    assert text.split("\n\n")[-1] == wanted + "\n", f"run `{measuring.COMMAND}`"


def test_every_host_but_torch_is_pinned_and_nothing_else() -> None:
    for_the_notebook = {"nbclient", "ipykernel"}  # of tests/watching/test_hosts.py
    assert {*pins(), "torch"} - for_the_notebook == set(HOSTS)


def test_the_fixes_that_a_case_names_are_public() -> None:
    public = set(NAMES.read_text(encoding="utf-8").split())
    assert {name for case in CASES for name in case.fixes.split(", ")} <= public


@pytest.mark.parametrize(
    ("run", "outcome"),
    [
        (lambda: None, "holds"),
        (differs, "differs: 1, not 2 | or so"),
        (crashes, "crashed: KeyError: 'missing'"),
    ],
)
def test_the_outcome_of_a_case(run: Callable[[], None], outcome: str) -> None:
    judged, trace = measuring.judge(a_case(run))
    assert judged == outcome
    assert bool(trace) == (outcome != HOLDS)


@pytest.mark.parametrize("found", [torch.ones(2), torch.tensor([1.0, math.nan]), [1.0, 2.1]])
def test_what_is_not_the_same_differs(found: object) -> None:
    expected = [1.0, 2.0] if isinstance(found, list) else torch.tensor([1.0, 2.0])
    with pytest.raises(Differs, match=r"^weights: \S"):
        same("weights", found, expected)
    same("weights", expected, expected)


@pytest.fixture
def run_here(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Returns a function that runs cases of one host in a separate process."""
    if not Path("/proc/self/stat").is_file():
        pytest.skip("needs fork, for another process to see these cases, and /proc")
    monkeypatch.setattr(measuring, "START", "fork")

    def run(*runs: Callable[[], None]) -> list[str]:
        monkeypatch.setattr(measuring, "CASES", [a_case(each) for each in runs])
        rows = measuring.measure(["pytest"])
        assert {row.version for row in rows} == {PYTEST}
        return [row.outcome for row in rows]

    return run


def test_a_case_that_fails_does_not_stop_the_next(
    run_here: Callable[..., list[str]], capfd: pytest.CaptureFixture[str]
) -> None:
    outcomes = run_here(crashes, noise)
    assert outcomes == ["crashed: KeyError: 'missing'", "holds"]
    out, err = capfd.readouterr()
    assert "noise" not in out
    assert 'raise KeyError("missing")' in err
    assert f"pytest {PYTEST}: 1 of 2 hold" in err


def test_a_crash_of_the_process_is_a_row(run_here: Callable[..., list[str]]) -> None:
    outcomes = run_here(lambda: None, lambda: os._exit(9), lambda: None)
    assert outcomes == ["holds", "crashed: the process ended with 9", "not run: see the row above"]


def test_a_host_that_hangs_is_a_row_and_its_processes_end_too(
    run_here: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def hangs() -> None:
        worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        (tmp_path / "worker").write_text(str(worker.pid), encoding="utf-8")
        time.sleep(60)

    monkeypatch.setattr(measuring, "SECONDS", 2)
    assert run_here(hangs) == ["crashed: still running after 2 seconds"]
    worker = int((tmp_path / "worker").read_text(encoding="utf-8"))
    limit = time.monotonic() + 10
    while running(worker) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not running(worker)


def running(pid: int) -> bool:
    """True if the process exists and is not a zombie, which only its new parent can remove."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_host_that_is_missing_or_of_another_version_is_a_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measuring, "CASES", [a_case(), a_case(host="no-such-host")])
    monkeypatch.setattr(measuring, "pins", lambda: {"pytest": "0.1"})
    rows = [(row.version, row.outcome) for row in measuring.measure(["pytest", "no-such-host"])]
    assert rows == [
        (PYTEST, "another version than the pinned 0.1"),
        ("-", "not installed: run `nox -s hosts`"),
    ]


@pytest.mark.parametrize(("outcome", "status"), [(HOLDS, 0), ("differs: a", 1), ("crashed: a", 1)])
def test_a_row_that_does_not_hold_changes_the_exit_status(
    outcome: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [Row(a_case(), "8.0", HOLDS), Row(a_case(), "8.0", outcome)]
    monkeypatch.setattr(hosts, "measure", lambda chosen: rows)
    monkeypatch.setattr(hosts, "TABLE", tmp_path / "hosts.md")
    result = CliRunner().invoke(hosts.main, [])
    assert result.exit_code == status
    assert ("pytest: trains: " in result.output) == bool(status)
    assert hosts.TABLE.read_text(encoding="utf-8") == hosts.render(rows)


def test_a_run_of_some_hosts_prints_their_rows_and_leaves_the_docs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "measure", lambda chosen: [Row(a_case(), chosen[0], HOLDS)])
    monkeypatch.setattr(hosts, "TABLE", tmp_path / "hosts.md")
    result = CliRunner().invoke(hosts.main, ["captum"])
    assert result.exit_code == 0
    assert "| pytest | captum | `amp.windows` | trains | does not | holds |" in result.output
    assert not hosts.TABLE.exists()


def test_what_does_not_hold_stands_out_in_the_table() -> None:
    text = hosts.render([Row(a_case(), "8.0", "differs: 1, not 2 | or\nso")])
    row = "| pytest | 8.0 | `amp.windows` | trains | does not | **differs: 1, not 2 \\| or so** |"
    assert text.splitlines()[-1] == row
    assert f"Written by `nox -s hosts` on torch {torch.__version__.split('+')[0]}, Python" in text
