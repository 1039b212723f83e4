"""Tests that missing measurements are made, and that a kill at any moment loses none."""

import datetime
import json
import random
import subprocess
import sys
import time

import pytest

from matrix import catalog
from matrix.evidence import records, schema, store
from matrix.run import measure, runner
from tests.harness.helpers import RETURNS, plant
from tests.harness.recorded import measurement, record

BUILD = {
    "torch": "2.4.1",
    "cuda": None,
    "python": "3.11.7",
    "numpy": None,
    "platform": "linux",
    "machine": "x86_64",
    "os": "Linux-6",
    "fork": True,
}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "records"


def measured(root, folder, **options):
    """Measures everything with this interpreter; returns the record and the ids that ran."""
    values = {"repeat": 1, "kind": "user", "command": "torch-repros record", **options}
    found, results = measure.record(
        catalog.load(root), sys.executable, "cpu", folder=folder, **values
    )
    return found, [result.id for result in results]


@pytest.mark.parametrize(
    ("old", "wanted"),
    [
        (None, True),
        ({}, False),
        ({"verdict": "flaky"}, False),
        ({"runs": 4, "agreeing": 4}, True),
        ({"verdict": "unavailable", "runs": 0, "agreeing": 0}, False),
        ({"hash": "1" * 16}, True),
    ],
)
def test_what_is_missing_stale_or_run_too_few_times_is_measured(root, old, wanted):
    plant(root, "amp/one", RETURNS.format("boom"))
    plant(root, "amp/gpu", RETURNS.format("boom"), affected='{ cuda = ">=2.0" }')
    gpu, one = catalog.load(root)
    have = {} if old is None else {"amp/one": measurement(**{"hash": one.hash, **old})}
    found = measure.lacking([gpu, one], "cpu", have, repeat=5, again=False)
    assert found == ([one] if wanted else [])
    assert measure.lacking([gpu, one], "cpu", have, repeat=5, again=True) == [one]


def test_only_measurements_of_this_platform_count(root, monkeypatch):
    plant(root, "amp/one", RETURNS.format("boom"))
    (one,) = catalog.load(root)
    held = {"amp/one": measurement(hash=one.hash)}
    known = [
        record("2.4.1", held, platform=platform, machine=machine)
        for platform, machine in (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "x86_64"))
    ]
    monkeypatch.setattr(measure.sys, "platform", "linux")
    monkeypatch.setattr(measure.platform, "machine", lambda: "aarch64")
    assert list(measure.measured_here(one, "cpu", known)) == [(known[1], held["amp/one"])]


@pytest.mark.parametrize(
    ("device", "build", "state", "expected"),
    [
        ("cpu", {}, {"name": "x86_64"}, {"gpu": "", "virtual": False, "system": ""}),
        ("cuda", {}, {"name": "H200", "driver": "580"}, {"gpu": "H200", "system": ""}),
        (
            "mps",
            {"platform": "darwin", "os": "macOS 15.1"},
            {"name": "Apple M2", "paravirtual": True},
            {"gpu": "Apple M2", "virtual": True, "system": "macOS 15.1"},
        ),
        (
            "mps",
            {"platform": "darwin", "os": "macOS 15.1"},
            {"name": None, "paravirtual": False},
            {"gpu": "unknown", "virtual": False, "system": "macOS 15.1"},
        ),
    ],
)
def test_a_record_is_named_after_what_decides_a_verdict(device, build, state, expected):
    answer = {"ok": True, "reason": "computed", **state}
    empty, origin = measure.describe({**BUILD, **build}, answer, device, "hosted", "a command")
    assert {key: getattr(empty, key) for key in expected} == expected
    assert (origin.kind, origin.command, origin.hardware) == ("hosted", "a command", state)
    assert list(origin.build) == ["python", "cuda", "numpy", "os"]


def test_measurements_state_who_measured_them_and_others_keep_their_source(root, folder):
    for name in ("one", "two"):
        plant(root, f"amp/{name}", RETURNS.format("boom"))
    first, _ = measured(root, folder, kind="hosted", command="first")
    plant(root, "amp/two", RETURNS.format("boom, and more"))
    second, ids = measured(root, folder, kind="user", command="second")
    assert ids == ["amp/two"]
    assert second.measurements["amp/one"] == first.measurements["amp/one"]
    origins = {id: (one.source.kind, one.source.command) for id, one in second.measurements.items()}
    assert origins == {"amp/one": ("hosted", "first"), "amp/two": ("user", "second")}


def test_the_file_is_written_once_for_many_reproducers(root, folder, monkeypatch):
    for number in range(12):
        plant(root, f"amp/r{number}", RETURNS.format("boom"))
    written = []
    whole = store._write
    monkeypatch.setattr(
        store, "_write", lambda path, text: (written.append(len(text)), whole(path, text))
    )
    found, ids = measured(root, folder)
    assert len(found.measurements) == len(ids) == 12
    assert len(written) == 1


def test_what_was_measured_before_a_failure_is_in_the_file(root, folder, monkeypatch):
    plant(root, "amp/one", RETURNS.format("boom"))

    def dies(*arguments, on_result, **options):
        on_result(runner.Result("amp/one", "cpu", "absent", "absent", runs=1, agreeing=1))
        raise runner.RunnerError("the interpreter died")

    monkeypatch.setattr(runner, "run", dies)
    with pytest.raises(runner.RunnerError):
        measured(root, folder)
    (path,) = folder.glob("*.json")
    assert list(json.loads(path.read_text())["measurements"]) == ["amp/one"]


def test_a_device_that_cannot_be_used_is_an_error_with_the_reason(root, folder):
    plant(root, "amp/one", RETURNS.format("boom"), affected='{ cuda = ">=2.0" }')
    with pytest.raises(runner.RunnerError, match="cuda is not usable on this machine: "):
        measure.record(catalog.load(root), sys.executable, "cuda", folder, 1, "user", "")
    assert not folder.exists()


def test_a_record_that_cannot_be_read_is_an_error_and_stays(root, folder):
    plant(root, "amp/one", RETURNS.format("boom"))
    measured(root, folder)
    (path,) = folder.glob("*.json")
    path.write_text(path.read_text().replace('"reproduced"', '"slow"'))
    spoiled = path.read_text()
    with pytest.raises(schema.RecordsError, match="'slow' is not one of"):
        measured(root, folder, again=True)
    assert path.read_text() == spoiled


def test_measurements_are_dated_today_in_utc(root, folder):
    plant(root, "amp/one", RETURNS.format("boom"))
    found, _ = measured(root, folder)
    today = datetime.datetime.now(datetime.timezone.utc).date()
    assert found.measurements["amp/one"].date in (
        today.isoformat(),
        (today - datetime.timedelta(days=1)).isoformat(),  # if midnight passed during the test
    )


# --- kills --------------------------------------------------------------------------------------

SLOW = "import time\n\n\ndef reproduce(device):\n    time.sleep(0.4)\n    return 'boom {}'\n"
COMMAND = """
import sys
from pathlib import Path
from matrix import catalog
from matrix.run import measure
reproducers = catalog.load(Path(sys.argv[1]))
measure.record(reproducers, sys.executable, "cpu", Path(sys.argv[2]), 2, "user", "")
"""


def outcomes(folder):
    """Maps each id to its measurement in the records, without dates and times."""
    found, problems = records.read_all(folder)
    assert problems == []  # every file is complete and valid
    assert len(found) <= 1
    return {
        id: (one.verdict, one.text, one.runs, one.agreeing, one.hash, one.source)
        for record in found
        for id, one in record.measurements.items()
    }


def start(root, folder):
    return subprocess.Popen([sys.executable, "-c", COMMAND, root, folder])


@pytest.mark.xdist_group("killed")
def test_a_run_killed_ten_times_and_resumed_records_what_a_clean_one_does(root, folder, tmp_path):
    for number in range(20):
        plant(root, f"planted/slow_{number}", SLOW.format(number))
    assert start(root, tmp_path / "clean").wait(120) == 0
    clean = outcomes(tmp_path / "clean")
    assert len(clean) == 20
    chance, seen = random.Random(), []
    for kill in range(10):
        process = start(root, folder)
        if kill % 2:  # during the recording, at an arbitrary point
            before, deadline = len(outcomes(folder)), time.monotonic() + 60
            while len(outcomes(folder)) == before and process.poll() is None:
                assert time.monotonic() < deadline
        time.sleep(chance.uniform(0, 0.5) if kill % 2 else chance.uniform(0, 2))
        process.kill()
        process.wait()
        left = outcomes(folder)
        assert left.items() <= clean.items()
        seen.append(len(left))
    assert seen == sorted(seen)  # nothing is lost
    assert any(0 < count < 20 for count in seen), seen
    assert start(root, folder).wait(120) == 0
    assert outcomes(folder) == clean


def test_two_runs_of_one_record_at_once_lose_nothing(root, folder):
    for number in range(16):
        family = "left" if number % 2 else "right"
        plant(root, f"{family}/r{number}", RETURNS.format("boom"))
    program = COMMAND.replace(
        "catalog.load(Path(sys.argv[1]))",
        "catalog.select(catalog.load(Path(sys.argv[1])), (sys.argv[3],))",
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", program, root, folder, family])
        for family in ("left", "right")
    ]
    assert [run.wait(60) for run in runs] == [0, 0]
    assert len(outcomes(folder)) == 16
