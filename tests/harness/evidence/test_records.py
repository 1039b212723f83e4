import errno
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from planted import plant

from matrix import catalog, cli, records, torches

BUILD = {
    "torch": "2.4.1+cu121",
    "cuda": "12.1",
    "python": "3.11.7",
    "numpy": "1.26.4",
    "platform": "linux",
    "machine": "x86_64",
    "os": "Linux",
}


def call(*arguments):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments])


def entry(verdict="reproduced", hash="0" * 16, date="2026-01-01", **changed):
    values = {
        "verdict": verdict,
        "text": "boom",
        "detail": "",
        "popular_fix": None,
        "runs": 5,
        "agreeing": 5,
        "seconds": 0.01,
        "peak_mib": 1.0,
    }
    return records.Entry(**{**values, "hash": hash, "date": date, **changed})


def cell(torch="2.4.1+cu121", device="cpu", entries=None, **hardware):
    return records.Cell(device, {**BUILD, "torch": torch}, hardware or {"name": "x86_64"}, "self", entries or {"amp/one": entry()})


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "records"


def test_a_record_survives_the_way_to_disk_and_back(folder):
    path = cell().save(folder)
    assert path.name == "cpu_linux-x86_64_torch-2.4.1+cu121.json"
    assert records.read(path) == cell()
    assert records.load(folder) == [cell()]


def test_cells_of_different_machines_have_different_names():
    cells = [
        cell(),
        cell("2.5.1"),
        cell(device="cuda", name="NVIDIA H200"),
        cell(device="cuda", name="NVIDIA A100"),
        records.Cell("mps", {**BUILD, "platform": "darwin", "machine": "arm64", "os": "macOS 15.1"}, {"name": "Apple M2"}, "user", {}),
        records.Cell("mps", {**BUILD, "platform": "darwin", "machine": "arm64", "os": "macOS 14.0"}, {"name": "Apple M2"}, "user", {}),
        records.Cell(
            "mps",
            {**BUILD, "platform": "darwin", "machine": "arm64", "os": "macOS 14.0"},
            {"name": "Apple M2", "paravirtual": True},
            "hosted",
            {},
        ),
    ]
    names = [one.name for one in cells]
    assert len(set(names)) == len(names)
    assert names[2] == "cuda_nvidia-h200_linux-x86_64_torch-2.4.1+cu121.json"
    assert names[6] == "mps_apple-m2_paravirtual_macos-14.0_darwin-arm64_torch-2.4.1+cu121.json"


def test_records_are_read_oldest_torch_first(folder):
    for version in ("2.10.0", "2.9.1+cpu", "1.13.1+cu117"):
        cell(version).save(folder)
    assert [one.minor for one in records.load(folder)] == ["1.13", "2.9", "2.10"]


@pytest.mark.parametrize(
    ("spoil", "line", "text"),
    [
        (lambda text: text[: len(text) // 2], 16, "not JSON"),
        (lambda text: "", 1, "not JSON"),
        (lambda text: "[]", 1, "not a record"),
        (lambda text: text.replace('"verdict"', '"veredict"'), 1, "not a record"),
        (lambda text: text.replace('"who": "self"', '"who": "me"'), 1, "who = 'me': expected hosted, self, user"),
        (lambda text: text.replace("2.4.1+cu121", "2.5.1"), 1, "should be called cpu_linux-x86_64_torch-2.5.1.json"),
        (lambda text: json.dumps({**json.loads(text), "entries": {}}), 1, "an empty record"),
    ],
)
def test_a_bad_record_is_named_with_file_and_line(folder, spoil, line, text):
    path = cell().save(folder)
    path.write_text(spoil(path.read_text()))
    cell("2.5.1").save(folder)
    with pytest.raises(records.RecordsError) as error:
        records.load(folder)
    (message,) = str(error.value).splitlines()
    assert message.startswith(f"{path}:{line}: {text}")


def test_a_full_disk_leaves_the_old_record_and_no_litter(folder, monkeypatch):
    path = cell().save(folder)
    before = path.read_text()

    def full(self, *arguments, **options):
        with open(self, "w") as file:
            file.write("{")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        cell(entries={"amp/two": entry()}).save(folder)
    assert [file.name for file in folder.iterdir()] == [path.name]
    assert path.read_text() == before


def test_merging_keeps_everything_and_of_two_the_newer(folder, tmp_path):
    cell(entries={"amp/one": entry(date="2026-01-01"), "amp/two": entry(date="2026-01-09")}).save(folder)
    cell(entries={"amp/one": entry(date="2026-01-05"), "amp/two": entry(date="2026-01-05"), "amp/three": entry()}).save(tmp_path / "a")
    cell("2.5.1").save(tmp_path / "b")
    result = call("merge", tmp_path / "a", tmp_path / "b", "--records", folder)
    assert result.exit_code == 0, result.output
    old, new = records.load(folder)
    assert {id: one.date for id, one in old.entries.items()} == {
        "amp/one": "2026-01-05",
        "amp/two": "2026-01-09",
        "amp/three": "2026-01-01",
    }
    assert new.minor == "2.5"
    assert "0 of 2 cells changed" in call("merge", tmp_path / "a", "--records", folder).output


def test_merging_prefers_what_was_measured_of_the_code_as_it_is_now(root, folder, tmp_path):
    plant(root, "amp/one", "def reproduce(device):\n    return None\n")
    (current,) = catalog.load(root)
    cell(entries={"amp/one": entry("absent", hash=current.hash, date="2026-01-01")}).save(folder)
    cell(entries={"amp/one": entry("reproduced", hash="old", date="2026-09-09")}).save(tmp_path / "a")
    assert call("--repros", root, "merge", tmp_path / "a", "--records", folder).exit_code == 0
    assert records.load(folder)[0].entries["amp/one"].verdict == "absent"


def test_contradicting_records_are_shown_and_nothing_is_written(folder, tmp_path):
    path = cell(entries={"amp/one": entry("reproduced"), "amp/two": entry()}).save(folder)
    before = path.read_text()
    cell(entries={"amp/one": entry("absent", date="2026-02-02")}).save(tmp_path / "a")
    cell("2.5.1").save(tmp_path / "b")
    result = call("merge", tmp_path / "b", tmp_path / "a", "--records", folder)
    assert result.exit_code == 1
    assert "amp/one: reproduced (5 of 5, 2026-01-01) against absent (5 of 5, 2026-02-02)" in result.output
    assert [file.name for file in folder.iterdir()] == [path.name]
    assert path.read_text() == before


def test_merging_an_empty_folder_is_refused(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    result = call("merge", tmp_path / "empty", "--records", folder)
    assert result.exit_code == 1
    assert "no records in this folder" in result.output


def test_the_hash_follows_the_code_and_the_symptom_and_nothing_else(root):
    code = "def reproduce(device):\n    return {!r}\n"
    hashes = {}
    for name, text, header in (
        ("one", "boom", {}),
        ("words", "boom", {"title": '"other words"', "affected": '{ cpu = "never" }', "fix": '"amp.x"'}),
        ("code", "thud", {}),
        ("symptom", "boom", {"symptom": '"thud"'}),
    ):
        plant(root, f"amp/{name}", code.format(text), **header)
    hashes = {one.id.split("/")[1]: one.hash for one in catalog.load(root)}
    assert hashes["words"] == hashes["one"]
    assert len({hashes["one"], hashes["code"], hashes["symptom"]}) == 3


SLOW = "import time\n\n\ndef reproduce(device):\n    time.sleep(0.4)\n    return 'boom {}'\n"


def measured(folder):
    """What the records say, without dates and times."""
    return {
        one.name: {id: {**vars(found), "date": "", "seconds": 0, "peak_mib": 0} for id, found in one.entries.items()}
        for one in records.load(folder)
    }


def count(folder):
    return sum(len(entries) for entries in measured(folder).values()) if folder.is_dir() else 0


@pytest.mark.xdist_group("killed")
def test_a_run_killed_ten_times_and_resumed_records_what_a_clean_one_does(root, folder, tmp_path):
    for number in range(20):
        plant(root, f"planted/slow_{number}", SLOW.format(number))
    command = [sys.executable, "-m", "matrix", "--repros", root, "record", "--python", sys.executable, "--repeat", "2", "--records"]
    subprocess.run([*command, tmp_path / "clean"], check=True, stdout=subprocess.DEVNULL)
    clean = measured(tmp_path / "clean")
    chance, seen = random.Random(), []
    for kill in range(10):
        process = subprocess.Popen([*command, folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if kill % 2:  # in the middle of recording, at whatever it does just then
            before, deadline = count(folder), time.monotonic() + 60
            while count(folder) == before and process.poll() is None:
                assert time.monotonic() < deadline
        time.sleep(chance.uniform(0, 0.5) if kill % 2 else chance.uniform(0, 5))
        process.kill()
        process.wait()
        for name, entries in (measured(folder) if folder.is_dir() else {}).items():  # whatever is there is whole and right
            assert all(found == clean[name][id] for id, found in entries.items())
        seen.append(count(folder))
    assert seen == sorted(seen)  # nothing is lost
    assert any(0 < found < 20 for found in seen), seen
    subprocess.run([*command, folder], check=True, stdout=subprocess.DEVNULL)
    assert measured(folder) == clean


def test_recording_measures_only_what_is_missing(root, folder):
    plant(root, "planted/one", "def reproduce(device):\n    return 'boom'\n")
    plant(root, "planted/two", "def reproduce(device):\n    return None\n", affected='{ cpu = "never" }')
    arguments = ("--repros", root, "record", "--python", sys.executable, "--records", folder, "--repeat")
    first = call(*arguments, 1)
    assert first.exit_code == 0, first.output
    assert "2 measured, 2 in" in first.output
    assert "0 measured, 2 in" in call(*arguments, 1).output
    plant(root, "planted/one", "def reproduce(device):\n    return 'boom, louder'\n")
    assert "1 measured, 2 in" in call(*arguments, 1).output
    assert "2 measured, 2 in" in call(*arguments, 3).output
    (one,) = records.load(folder)
    assert {id: (found.verdict, found.agreeing, found.runs) for id, found in one.entries.items()} == {
        "planted/one": ("reproduced", 3, 3),
        "planted/two": ("absent", 3, 3),
    }
    plant(root, "planted/two", "def reproduce(device):\n    return 'boom'\n", affected='{ cpu = "never" }')
    changed = call(*arguments, 1)
    assert changed.exit_code == 1
    assert "planted/two: reproduced, but its header says absent" in changed.output
    assert "expect --from-records" in changed.output


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("record", "--torch", "2.4", "9.9"), 2, "no torch 9.9 in torches.toml"),
        (("record", "--torch", "2.4", "--python", "python"), 2, "give one of them"),
        (("record", "--python", "/no/such/python"), 3, "cannot start /no/such/python"),
        (("record", "--python", sys.executable, "--device", "mps"), 3, "no usable mps here"),
        (("bisect", "amp"), 2, "'amp' is a family"),
        (("bisect", "amp/scaler_on_mps_needs_float64"), 2, "does not concern cpu; its header names mps"),
        (("bisect", "amp/unscale_twice", "--good", "7.0"), 2, "no torch 7.0"),
    ],
)
def test_wrong_use_of_the_measuring_commands_is_loud(arguments, status, text, folder):
    result = call(*arguments, "--records", folder)
    assert result.exit_code == status, result.output
    assert text in " ".join(result.output.split())


def test_bisection_is_answered_by_records_where_they_can(folder):
    id = "amp/autocast_cache_under_no_grad"
    (current,) = [one for one in catalog.load() if one.id == id]
    for torch in torches.load():
        verdict = "absent" if catalog.satisfies(torch.version, ">=2.11") else "reproduced"
        cell(torch.version, entries={id: entry(verdict, hash=current.hash)}).save(folder)
    result = call("bisect", id, "--records", folder)
    assert result.exit_code == 0, result.output
    assert f"{id} on cpu: first good torch: 2.11 (2.10 is reproduced), from 0 environments of 17 releases" in result.output
    assert result.output.count("(recorded 2026-01-01)") <= 6
