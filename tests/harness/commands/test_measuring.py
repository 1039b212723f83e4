"""Tests the commands record, bisect, merge and torches."""

import contextlib
import json
import os
import stat
import subprocess
import sys
from dataclasses import replace

import pytest

from matrix import catalog, devices, torches
from matrix.evidence import records, store
from matrix.run import environments, measure
from tests.harness.helpers import RETURNS, call, plant
from tests.harness.recorded import measurement, record, source

RELEASES = torches.load()
MINORS = [torch.minor for torch in RELEASES]
OLD = source(
    "hosted",
    build={"python": "3.8.1", "cuda": None, "numpy": None, "os": "OldOS 1"},
    hardware={"name": "Old CPU"},
)
NEVER = '{ cpu = "never" }'
ABSENT = "def reproduce(device):\n    return None\n"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "records"


@pytest.fixture
def made(monkeypatch):
    """The releases for which an environment was created; the stub of torch reports each version."""
    versions = []

    @contextlib.contextmanager
    def environment(torch, device="cpu", root=None, keep=False):
        versions.append(torch.minor)
        monkeypatch.setenv("STUB_TORCH", torch.version)
        yield sys.executable

    monkeypatch.setattr(environments, "environment", environment)
    return versions


def measured(root, folder, *arguments):
    """Calls record with this interpreter."""
    head = ("--repros", root, "record", "--python", sys.executable, "--records", folder)
    return call(*head, "--repeat", 1, *arguments)


def words(result):
    return " ".join(result.output.split())


# --- record -------------------------------------------------------------------------------------


def test_recording_measures_only_what_is_missing(root, folder):
    plant(root, "planted/one", RETURNS.format("boom"))
    plant(root, "planted/two", ABSENT, affected=NEVER)
    first = measured(root, folder)
    assert first.exit_code == 0, first.output
    assert "2 measured, 2 in" in first.output
    assert "0 measured, 2 in" in measured(root, folder).output
    plant(root, "planted/one", RETURNS.format("boom, louder"))
    assert "1 measured, 2 in" in measured(root, folder).output
    assert "2 measured, 2 in" in measured(root, folder, "--repeat", 3).output
    (held,) = records.load(folder)
    assert {id: (one.verdict, one.agreeing, one.runs) for id, one in held.measurements.items()} == {
        "planted/one": ("reproduced", 3, 3),
        "planted/two": ("absent", 3, 3),
    }
    assert "2 measured, 2 in" in measured(root, folder, "--again").output


def test_a_result_that_differs_from_its_header_is_reported_and_recorded(root, folder):
    plant(root, "planted/two", RETURNS.format("boom"), affected=NEVER)
    result = measured(root, folder)
    assert result.exit_code == 1
    assert "planted/two: reproduced, but its header says absent" in result.output
    assert "torch-repros headers --write" in result.output
    assert records.load(folder)[0].measurements["planted/two"].verdict == "reproduced"


def test_recording_one_reproducer_leaves_what_others_say_of_their_origin(root, folder):
    for name in ("one", "two"):
        plant(root, f"planted/{name}", RETURNS.format("boom"))
    assert measured(root, folder).exit_code == 0
    (held,) = records.load(folder)
    held.path(folder).unlink()
    other = replace(held.measurements["planted/one"], source=OLD)
    store.save(replace(held, measurements={"planted/one": other}), folder)
    result = measured(root, folder, "--source", "self")
    assert "1 measured, 2 in" in result.output
    (held,) = records.load(folder)
    assert held.measurements["planted/one"] == other
    assert held.measurements["planted/two"].source.kind == "self"
    assert held.measurements["planted/two"].source.build["os"] != "OldOS 1"


def test_a_source_states_the_command_without_paths(root, folder):
    plant(root, "planted/one", RETURNS.format("boom"))
    measured(root, folder, "--only", "planted/one", "--only", "planted", "--again")
    (one,) = records.load(folder)[0].measurements.values()
    expected = "torch-repros record --only planted/one --only planted --repeat 1 --again"
    assert one.source.command == expected
    assert one.source.harness
    assert str(folder) not in json.dumps(records.load(folder)[0].to_json())


def test_two_recordings_of_one_record_at_once_lose_nothing(root, folder):
    for number in range(8):
        plant(root, f"left/r{number}", RETURNS.format("boom"))
        plant(root, f"right/r{number}", RETURNS.format("boom"))
    head = [sys.executable, "-m", "matrix", "--repros", root, "record", "--python", sys.executable]
    tail = ["--repeat", "1", "--records", folder, "--only"]
    calls = [
        subprocess.Popen([*head, *tail, family], cwd=catalog.ROOT, stdout=subprocess.DEVNULL)
        for family in ("left", "right")
    ]
    assert [one.wait(120) for one in calls] == [0, 0]
    assert len(records.load(folder)[0].measurements) == 16


def test_a_reproducer_that_cannot_be_read_is_named_and_the_others_are_measured(root, folder):
    plant(root, "planted/one", RETURNS.format("boom"))
    plant(root, "planted/bad", RETURNS.format("boom"), kind='"wrong"')
    result = measured(root, folder)
    assert result.exit_code == 1
    assert "planted/bad.py" in result.output
    assert list(records.load(folder)[0].measurements) == ["planted/one"]


def test_a_bad_record_of_another_build_does_not_stop_recording(root, folder):
    plant(root, "planted/one", RETURNS.format("boom"))
    folder.mkdir()
    (folder / "cpu_other.json").write_text("{")
    assert measured(root, folder).exit_code == 0
    assert len(records.read_all(folder)[0]) == 1


def test_releases_are_plain_arguments_and_each_is_measured_in_its_environment(root, folder, made):
    plant(root, "planted/one", RETURNS.format("boom"))
    command = ("--repros", root, "record", MINORS[1], MINORS[0], "--repeat", 1, "--records", folder)
    result = call(*command)
    assert result.exit_code == 0, result.output
    assert made == MINORS[:2]
    assert [one.minor for one in records.load(folder)] == MINORS[:2]
    assert words(call(*command)).count("nothing to measure") == 2
    assert made == MINORS[:2]


def test_a_release_that_fails_does_not_stop_the_next_one(root, folder, made, monkeypatch):
    plant(root, "planted/one", RETURNS.format("boom"))
    works = environments.environment

    def fails_once(torch, *arguments):
        if torch.minor == MINORS[0]:
            raise environments.EnvironmentFailed("no wheels")
        return works(torch, *arguments)

    monkeypatch.setattr(environments, "environment", fails_once)
    command = ("--repros", root, "record", *MINORS[:2], "--repeat", 1, "--records", folder)
    result = call(*command)
    assert result.exit_code == 3
    assert "Error: torch" in result.output
    assert "no wheels" in result.output
    assert [one.minor for one in records.load(folder)] == [MINORS[1]]


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("record", MINORS[0], "9.9"), 2, "no torch 9.9 in torches.toml"),
        (
            ("record", MINORS[0], "--python", "python"),
            2,
            "use either --python or VERSION, not both",
        ),
        (("record", "--torch", MINORS[0]), 2, "No such option"),
        (("record", "--who", "self"), 2, "No such option"),
        (("record", "--repeat", "1001"), 2, "1001 is not in the range 1<=x<=1000"),
        (("record", "--source", "me"), 2, "'me' is not one of 'hosted', 'self', 'user'"),
        (("record", "--python", "/no/such/python"), 3, "cannot start /no/such/python"),
        (
            ("record", "--python", sys.executable, "--device", "mps"),
            3,
            "mps is not usable on this machine: ",
        ),
        (("bisect", "amp"), 2, "'amp' is a family"),
        (("bisect", "amp/unscale_twice", "--good", "7.0"), 2, "no torch 7.0"),
        (
            ("bisect", "amp/scaler_on_mps_needs_float64"),
            2,
            "does not apply to cpu; its header names mps",
        ),
    ],
)
def test_wrong_use_is_refused_with_the_reason(arguments, status, text, folder):
    result = call(*arguments, "--records", folder)
    assert result.exit_code == status, result.output
    assert text in words(result)


@pytest.mark.parametrize("command", [("record", MINORS[0]), ("bisect", "planted/one")])
def test_another_torch_than_the_one_asked_for_is_not_recorded(
    root, folder, made, monkeypatch, command
):
    plant(root, "planted/one", RETURNS.format("boom"))
    works = environments.environment

    @contextlib.contextmanager
    def other(torch, *arguments):
        with works(torch, *arguments) as python:
            monkeypatch.setenv("STUB_TORCH", "9.9.0+cpu")
            yield python

    monkeypatch.setattr(environments, "environment", other)
    result = call("--repros", root, *command, "--repeat", 1, "--records", folder)
    assert result.exit_code == 3
    assert "its environment has torch 9.9.0+cpu, not " in words(result)
    assert records.load(folder) == []


def test_a_record_of_another_gpu_does_not_count_as_this_one(root, folder, made, monkeypatch):
    plant(root, "planted/one", RETURNS.format("boom"), affected='{ cuda = ">=1.13" }')
    (one,) = catalog.load(root)
    monkeypatch.setattr(devices, "missing", lambda name: None)
    held = {"planted/one": measurement(hash=one.hash)}
    store.save(record(RELEASES[0].version, held, "cuda", gpu="Another GPU"), folder)
    result = call("--repros", root, "record", MINORS[0], "--device", "cuda", "--records", folder)
    assert made == MINORS[:1]
    assert "nothing to measure" not in result.output


# --- a missing device or folder -----------------------------------------------------------------


@pytest.mark.parametrize("command", [("record",), ("bisect", "planted/one")])
def test_without_the_device_no_environment_is_made(root, folder, made, monkeypatch, command):
    plant(root, "planted/one", RETURNS.format("boom"), affected='{ cuda = ">=1.13" }')
    monkeypatch.setattr(devices, "missing", lambda name: f"{name} is not usable: no driver")
    tail = ("--device", "cuda", "--records", folder)
    result = call("--repros", root, *command, *tail)
    assert result.exit_code == 3
    assert "Error: cuda is not usable: no driver" in result.output
    assert made == []


@pytest.mark.parametrize("command", [("record", MINORS[0]), ("bisect", "planted/one")])
def test_where_records_cannot_be_written_no_environment_is_made(root, folder, made, command):
    plant(root, "planted/one", RETURNS.format("boom"))
    folder.mkdir()
    (folder / ".journal").write_text("a file")
    result = call("--repros", root, *command, "--records", folder)
    assert result.exit_code == 3
    assert "Error: torch" in result.output
    assert "File exists" in result.output
    assert made == []


@pytest.mark.parametrize(
    "command",
    [
        ("record", "--python", sys.executable),
        ("bisect", "amp/unscale_twice", "--again"),
        ("merge", "."),
    ],
)
def test_an_installed_packages_own_records_are_never_written(folder, monkeypatch, made, command):
    monkeypatch.setattr(catalog, "CLONE", False)
    monkeypatch.setattr(catalog, "RECORDS", folder)
    result = call(*command, "--records", folder)
    assert result.exit_code == 2
    assert "own records are read-only: name a folder with --records DIR" in words(result)
    assert made == []
    assert not folder.exists()


def test_an_installed_package_bisects_with_its_own_records(monkeypatch, made):
    monkeypatch.setattr(catalog, "CLONE", False)
    monkeypatch.setattr(measure.sys, "platform", "linux")
    monkeypatch.setattr(measure.platform, "machine", lambda: "x86_64")
    ends = ("--bad", "2.9", "--good", "2.12")
    result = call("bisect", "amp/autocast_cache_under_no_grad", *ends)
    assert result.exit_code == 0, result.output
    assert "first good torch: 2.11 (2.10 is reproduced)" in result.output
    assert "4 of 4 releases known: 4 from records, 0 measured now" in result.output
    assert made == []


# --- bisect -------------------------------------------------------------------------------------


def recorded(root, folder, verdicts, **changed):
    """Saves records of one planted reproducer with these verdicts, oldest release first."""
    plant(root, "planted/one", RETURNS.format("boom"))
    (one,) = catalog.load(root)
    for torch, verdict in zip(RELEASES, verdicts, strict=True):
        held = measurement(verdict, hash=one.hash, **changed)
        store.save(record(torch.version, {"planted/one": held}), folder)


def test_records_of_every_release_list_every_change(root, folder, made):
    verdicts = ["absent"] * 2 + ["reproduced"] * 5 + ["absent"] * (len(RELEASES) - 7)
    recorded(root, folder, verdicts)
    result = call("--repros", root, "bisect", "planted/one", "--records", folder)
    assert result.exit_code == 0, result.output
    sentence = (
        f"planted/one on cpu: first bad torch: {MINORS[2]} ({MINORS[1]} is absent); "
        f"first good torch: {MINORS[7]} ({MINORS[6]} is reproduced)"
    )
    assert sentence in result.output
    count = len(RELEASES)
    assert f"{count} of {count} releases known: {count} from records, 0 measured" in result.output
    assert made == []


def test_a_flaky_release_at_the_end_costs_no_answer(root, folder, made):
    verdicts = ["flaky"] + ["reproduced"] * 9 + ["absent"] * (len(RELEASES) - 10)
    recorded(root, folder, verdicts)
    result = call("--repros", root, "bisect", "planted/one", "--records", folder)
    assert result.exit_code == 0, result.output
    answer = f"first good torch: {MINORS[10]} ({MINORS[9]} is reproduced); {MINORS[0]} is flaky"
    assert answer in result.output


def test_records_with_too_few_runs_do_not_answer(root, folder, made):
    recorded(root, folder, ["absent"] * len(RELEASES), runs=2, agreeing=2)
    command = ("--repros", root, "bisect", "planted/one", "--records", folder, "--repeat")
    assert "0 measured now" in call(*command, 2).output
    assert made == []
    assert "0 from records, 3 measured now" in call(*command, 3).output
    assert made == [MINORS[-1], MINORS[0], MINORS[(len(MINORS) - 1) // 2]]


def test_a_recorded_release_that_cannot_run_it_is_not_measured_again(root, folder, made):
    verdicts = ["reproduced"] * 5 + ["absent"] * (len(RELEASES) - 5)
    recorded(root, folder, verdicts)
    (one,) = catalog.load(root)
    held = measurement("unavailable", hash=one.hash, runs=0, agreeing=0)
    store.save(record(RELEASES[0].version, {"planted/one": held}), folder)
    result = call("--repros", root, "bisect", "planted/one", "--records", folder)
    answer = (
        f"first good torch: {MINORS[5]} ({MINORS[4]} is reproduced); {MINORS[0]} is unavailable"
    )
    assert answer in result.output
    assert made == []


BY_RELEASE = """\
import torch


def reproduce(device):
    release = tuple(map(int, torch.__version__.split(".")[:2]))
    if release in {broken}:
        raise OSError("not here")
    return "boom" if release < (2, 9) else None
"""


@pytest.mark.parametrize(
    ("broken", "names"),
    [
        ([], "2.9 (2.8 is reproduced)"),
        ([(2, 8)], "2.9 or 2.8 (2.8 is broken, 2.7 is reproduced)"),
        ([(1, 13)], "2.9 (2.8 is reproduced); 1.13 is broken"),
    ],
)
def test_releases_are_measured_and_recorded_past_broken_ones(root, folder, made, broken, names):
    code = BY_RELEASE.format(broken=broken)
    plant(root, "planted/one", code, affected='{ cpu = "<2.9" }')
    command = ("--repros", root, "bisect", "planted/one", "--repeat", 1, "--records", folder)
    result = call(*command, "--source", "hosted")
    assert result.exit_code == 0, result.output
    assert f"planted/one on cpu: first good torch: {names}" in result.output
    assert len(made) == len(set(made)) < len(RELEASES)
    held = records.load(folder)
    assert sorted(one.minor for one in held) == sorted(made)
    assert {one.measurements["planted/one"].source.kind for one in held} == {"hosted"}
    assert "0 measured now" in call(*command).output  # the second call uses the records


def test_a_release_without_an_environment_is_skipped(root, folder, made, monkeypatch):
    plant(root, "planted/one", BY_RELEASE.format(broken=[]))
    works = environments.environment

    def fails(torch, *arguments):
        if torch.minor == "1.13":
            raise environments.EnvironmentFailed("no wheels")
        return works(torch, *arguments)

    monkeypatch.setattr(environments, "environment", fails)
    command = ("--repros", root, "bisect", "planted/one", "--repeat", 1, "--records", folder)
    result = call(*command)
    assert result.exit_code == 0, result.output
    assert "first good torch: 2.9 (2.8 is reproduced); 1.13 is not measurable" in result.output
    assert f"{len(made)} of {len(RELEASES)} releases known: 0 from records" in result.output


def test_where_no_environment_can_be_made_bisect_tries_one_alone(root, folder, monkeypatch):
    plant(root, "planted/one", RETURNS.format("boom"))
    tried = []

    def fails(torch, *arguments):
        tried.append(torch.minor)
        raise environments.EnvironmentFailed("no network")

    monkeypatch.setattr(environments, "environment", fails)
    result = call("--repros", root, "bisect", "planted/one", "--records", folder)
    assert result.exit_code == 3
    assert "no network" in result.output
    assert tried == [MINORS[-1]]


def without_environments(monkeypatch):
    def fails(torch, *arguments):
        raise environments.EnvironmentFailed("no network")

    monkeypatch.setattr(environments, "environment", fails)


def without_the_device(monkeypatch):
    monkeypatch.setattr(devices, "missing", lambda name: "no device")


def without_room(monkeypatch):
    def fails(*arguments, **options):
        raise OSError("disk full")

    monkeypatch.setattr(measure, "record", fails)


def test_a_full_disk_is_not_the_fault_of_the_interpreter(root, folder, monkeypatch):
    plant(root, "planted/one", RETURNS.format("boom"))

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(measure, "record", full)
    done = call("--repros", root, "record", "--python", sys.executable, "--records", folder)
    assert done.exit_code == 3
    assert f"Error: {sys.executable}: the disk that holds {folder} is full\n" in done.output


@pytest.mark.parametrize("without", [without_environments, without_the_device, without_room])
def test_where_nothing_can_be_measured_records_answer_alone(
    root, folder, made, monkeypatch, without
):
    recorded(root, folder, ["reproduced"] * 9 + ["absent"] * (len(RELEASES) - 9))
    for number in (2, len(RELEASES) - 1):
        next(folder.glob(f"*{RELEASES[number].version}.json")).unlink()
    without(monkeypatch)
    command = ("--repros", root, "bisect", "planted/one", "--records", folder)
    result = call(*command)
    assert result.exit_code == 0, result.output
    assert f"first good torch: {MINORS[9]} ({MINORS[8]} is reproduced)" in result.output
    known = len(RELEASES) - 2
    assert f"{known} of {len(RELEASES)} releases known: {known} from records" in result.output
    assert call(*command, "--again").exit_code == 3


def test_what_was_measured_before_a_failure_is_told(root, folder, made, monkeypatch):
    plant(root, "planted/one", BY_RELEASE.format(broken=[]))
    works = measure.record

    def fails_after_two(*arguments, **options):
        if len(made) > 2:
            raise OSError("disk full")
        return works(*arguments, **options)

    monkeypatch.setattr(measure, "record", fails_after_two)
    result = call("--repros", root, "bisect", "planted/one", "--repeat", 1, "--records", folder)
    assert result.exit_code == 0, result.output
    ends = f"{MINORS[0]} (reproduced) and {MINORS[-1]} (absent)"
    assert f"a change is between {ends}" in result.output
    assert f"2 of {len(RELEASES)} releases known: 0 from records, 2 measured" in result.output


def test_where_records_decide_nothing_and_the_rest_cannot_be_measured_each_is_named(
    root, folder, monkeypatch
):
    recorded(root, folder, ["flaky"] * len(RELEASES))
    next(folder.glob(f"*{RELEASES[-1].version}.json")).unlink()
    without_environments(monkeypatch)
    result = call("--repros", root, "bisect", "planted/one", "--records", folder)
    assert result.exit_code == 1
    assert f"torch {RELEASES[-1].version} is not measured; none is" in words(result)


def test_measuring_again_measures_what_is_recorded(root, folder, made):
    recorded(root, folder, ["absent"] * len(RELEASES))
    command = ("--repros", root, "bisect", "planted/one", "--records", folder, "--repeat", 1)
    assert "planted/one on cpu: reproduced in" in call(*command, "--again").output
    assert made == [MINORS[-1], MINORS[0], MINORS[(len(MINORS) - 1) // 2]]


def test_where_no_release_decides_bisect_names_each(root, folder, made):
    recorded(root, folder, ["flaky"] * len(RELEASES))
    result = call("--repros", root, "bisect", "planted/one", "--records", folder)
    assert result.exit_code == 1
    assert f"cannot bisect: torch {RELEASES[0].version} is flaky" in words(result)


def test_machines_that_disagree_decide_nothing(root, folder, made):
    verdicts = ["reproduced"] * 3 + ["absent"] * (len(RELEASES) - 3)
    recorded(root, folder, verdicts)
    (one,) = catalog.load(root)
    held = {"planted/one": measurement("reproduced", hash=one.hash)}
    store.save(record(f"{RELEASES[3].version}+other", held), folder)
    result = call("--repros", root, "bisect", "planted/one", "--records", folder)
    answer = f"first good torch: {MINORS[4]} or {MINORS[3]} ({MINORS[3]} is absent/reproduced"
    assert answer in result.output


def test_the_ends_of_a_bisection_can_be_given(root, folder, made):
    verdicts = ["absent"] * 4 + ["reproduced"] * 4 + ["absent"] * (len(RELEASES) - 8)
    recorded(root, folder, verdicts)
    ends = ("--good", MINORS[0], "--bad", RELEASES[6].version)
    result = call("--repros", root, "bisect", "planted/one", "--records", folder, *ends)
    assert f"first bad torch: {MINORS[4]} ({MINORS[3]} is absent)\n" in result.output
    assert "7 of 7 releases known" in result.output


# --- merge --------------------------------------------------------------------------------------


def verdicts_of(folder):
    return {
        (one.minor, id): (held.verdict, held.date)
        for one in records.load(folder)
        for id, held in one.measurements.items()
    }


def at(*dates, verdict="reproduced"):
    ids = ("amp/one", "amp/two", "amp/three")
    return {id: measurement(verdict, date=date) for id, date in zip(ids, dates) if date}


def test_merging_keeps_everything_and_of_two_the_newer(folder, tmp_path):
    store.save(record(measurements=at("2026-01-01", "2026-01-09")), folder)
    store.save(record(measurements=at("2026-01-05", "2026-01-05", "2026-01-01")), tmp_path / "a")
    store.save(record("2.5.1"), tmp_path / "b")
    result = call("merge", tmp_path / "a", tmp_path / "b", "--records", folder)
    assert result.exit_code == 0, result.output
    assert {key: date for key, (_, date) in verdicts_of(folder).items()} == {
        ("2.4", "amp/one"): "2026-01-05",
        ("2.4", "amp/two"): "2026-01-09",
        ("2.4", "amp/three"): "2026-01-01",
        ("2.5", "amp/one"): "2026-01-01",
    }
    assert "0 of 2 records changed" in call("merge", tmp_path / "a", "--records", folder).output


def test_what_another_process_records_while_merging_stays(folder, tmp_path, monkeypatch):
    store.save(record(measurements=at("2026-01-01")), folder)
    store.save(record(measurements=at("2026-01-05")), tmp_path / "a")
    read_all = records.read_all

    def and_then_another_records(of):
        found = read_all(of)
        if of == tmp_path / "a":
            store.save(record(measurements=at("2026-01-09")), folder)
        return found

    monkeypatch.setattr(records, "read_all", and_then_another_records)
    result = call("merge", tmp_path / "a", "--records", folder)
    assert "0 of 1 record changed" in result.output
    monkeypatch.undo()
    assert verdicts_of(folder) == {("2.4", "amp/one"): ("reproduced", "2026-01-09")}


def test_merging_leaves_what_others_say_of_their_origin(folder, tmp_path):
    old = {id: measurement(source=OLD) for id in ("amp/one", "amp/two")}
    store.save(record(measurements=old), folder)
    nightly = source("user", hardware={"name": "nightly runner"})
    newer = {"amp/one": measurement(source=nightly, date="2026-02-02")}
    store.save(record(measurements=newer), tmp_path / "a")
    assert call("merge", tmp_path / "a", "--records", folder).exit_code == 0
    (held,) = records.load(folder)
    assert held.measurements == {**old, **newer}


def test_a_contradiction_is_shown_and_everything_else_is_merged(folder, tmp_path):
    store.save(record(measurements=at("2026-01-01", "2026-01-01")), folder)
    flaky = {
        **at("2026-02-02", verdict="flaky"),
        "amp/two": measurement(date="2026-02-02"),
        "amp/three": measurement(date="2026-02-02"),
    }
    store.save(record(measurements=flaky), tmp_path / "a")
    store.save(record("2.5.1"), tmp_path / "a")
    result = call("merge", tmp_path / "a", "--records", folder)
    assert result.exit_code == 1
    shown = "amp/one: reproduced (5 of 5, 2026-01-01) stays; "
    assert f"{shown}{tmp_path / 'a'} has flaky (4 of 5, 2026-02-02)" in result.output
    assert verdicts_of(folder) == {
        ("2.4", "amp/one"): ("reproduced", "2026-01-01"),
        ("2.4", "amp/two"): ("reproduced", "2026-02-02"),
        ("2.4", "amp/three"): ("reproduced", "2026-02-02"),
        ("2.5", "amp/one"): ("reproduced", "2026-01-01"),
    }


def test_bad_values_and_bad_files_are_named_and_everything_else_is_merged(folder, tmp_path):
    store.save(record(measurements=at("2026-01-01", "2026-01-01")), folder)
    source_path = store.save(record(measurements=at("2026-02-02", "2026-02-02")), tmp_path / "a")
    text = source_path.read_text()
    source_path.write_text(text.replace("2026-02-02", "2099-01-01", 1))
    (tmp_path / "a/cpu_broken.json").write_text("<<<<<<< ours\n{")
    result = call("merge", tmp_path / "a", "--records", folder)
    assert result.exit_code == 1
    assert "amp/one: date: '2099-01-01' is not between" in result.output
    assert "cpu_broken.json:1: a marker of an unresolved merge conflict" in result.output
    assert verdicts_of(folder) == {
        ("2.4", "amp/one"): ("reproduced", "2026-01-01"),
        ("2.4", "amp/two"): ("reproduced", "2026-02-02"),
    }


def test_a_bad_record_of_the_projects_own_is_not_replaced_and_the_others_are(folder, tmp_path):
    bad = store.save(record(), folder)
    spoiled = bad.read_text().replace('"reproduced"', '"reprodcued"')
    bad.write_text(spoiled)
    for version in ("2.4.1+cu121", "2.5.1"):
        store.save(record(version, at("2026-02-02", "2026-02-02")), tmp_path / "a")
    result = call("merge", tmp_path / "a", "--records", folder)
    assert result.exit_code == 1
    assert f"{tmp_path / 'a' / bad.name} was not merged: {bad}:" in result.output
    assert bad.read_text() == spoiled
    assert [one.minor for one in records.read_all(folder)[0]] == ["2.5"]


def test_merging_changes_only_leaves_the_files_alone_until_an_outcome_changes(folder, tmp_path):
    path = store.save(record(measurements=at("2026-01-01", "2026-01-01")), folder)
    before = path.read_bytes()
    nightly = at("2026-02-02", "2026-02-02")
    nightly["amp/two"].seconds, nightly["amp/two"].source = 9.0, OLD
    store.save(record(measurements=nightly), tmp_path / "a")
    merging = ("merge", tmp_path / "a", "--changes-only", "--records", folder)
    result = call(*merging)
    assert (result.exit_code, path.read_bytes()) == (0, before)
    assert "0 of 1 record changed" in result.output
    nightly["amp/two"].popular_fix = "still there"
    store.save(record(measurements=nightly), tmp_path / "a")
    assert call(*merging).exit_code == 0
    assert {id: date for (_, id), (_, date) in verdicts_of(folder).items()} == {
        "amp/one": "2026-01-01",
        "amp/two": "2026-02-02",
    }


def test_an_empty_folder_is_named_and_the_others_are_merged(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    store.save(record(), tmp_path / "a")
    result = call("merge", tmp_path / "empty", tmp_path / "a", "--records", folder)
    assert result.exit_code == 1
    assert f"{tmp_path / 'empty'}: no records in this folder" in result.output
    assert len(records.load(folder)) == 1


def test_measurements_that_a_killed_run_left_in_its_journal_are_merged(folder, tmp_path):
    store.append(record(), tmp_path / "a")
    assert call("merge", tmp_path / "a", "--records", folder).exit_code == 0
    assert records.load(folder) == [record()]


# --- torches ------------------------------------------------------------------------------------


@pytest.fixture
def released(tmp_path, monkeypatch):
    """Returns a function that makes uv list the given versions of torch."""

    def install(*versions):
        script = tmp_path / "uv"
        script.write_text(f"#!/bin/sh\necho 'Available versions: {', '.join(versions)}'\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    return install


def test_torches_lists_every_release_with_what_it_needs():
    lines = call("torches").output.splitlines()
    assert [line.split()[:2] for line in lines] == [
        [torch.minor, f"torch=={torch.version}"] for torch in RELEASES
    ]


def test_torches_check_fails_until_the_release_is_listed(released):
    listed = [torch.version for torch in RELEASES]
    released(*listed)
    good = call("torches", "--check")
    assert good.exit_code == 0
    assert f"every release from {MINORS[0]} to {MINORS[-1]}" in good.output
    released("999.0.0", *listed)
    bad = call("torches", "--check")
    assert bad.exit_code == 1
    assert (
        "torch 999.0.0 has been released, but is not in torches.toml\n1 release to add"
        in bad.output
    )


def test_torches_check_without_an_answer_is_an_error(tmp_path, monkeypatch):
    script = tmp_path / "uv"
    script.write_text("#!/bin/sh\necho 'dns error' >&2\nexit 2\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    result = call("torches", "--check")
    assert result.exit_code == 3
    assert "the package index did not answer: dns error" in result.output
