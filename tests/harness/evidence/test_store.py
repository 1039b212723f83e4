"""Tests that writing and merging records loses nothing."""

import errno
import io
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from matrix import catalog
from matrix.evidence import records, schema, store
from tests.harness.helpers import plant
from tests.harness.recorded import measurement, record, source


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "records"


def problems_of(path):
    """The problems reported for the folder of the record, and the record as read, or None."""
    found, problems = records.read_all(path.parent)
    held = next((one for one in found if one.path(path.parent) == path), None)
    return problems, held


def files(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def test_saving_never_replaces_a_file_that_cannot_be_read(folder):
    path = store.save(record(), folder)
    path.write_text(path.read_text().replace('"reproduced"', '"reprodcued"'))
    spoiled = path.read_text()
    with pytest.raises(schema.RecordsError, match="amp/one: verdict: 'reprodcued'"):
        store.save(record(measurements={"amp/two": measurement()}), folder)
    assert path.read_text() == spoiled


def test_what_could_not_be_read_again_is_never_written(folder):
    path = store.save(record(), folder)
    before = path.read_text()
    bad = record(measurements={"amp/two": measurement(date="1970-01-01")})
    for write in (store.save, store.append):
        with pytest.raises(schema.RecordsError, match="amp/two: date: '1970-01-01' is not between"):
            write(bad, folder)
    assert path.read_text() == before
    assert not (folder / ".journal" / path.name).exists()


# --- sources ------------------------------------------------------------------------------------


def test_a_new_measurement_leaves_what_others_say_of_their_origin(folder):
    old = measurement(source=source("hosted", hardware={"name": "Old CPU"}))
    new = measurement(source=source("user", hardware={"name": "New CPU"}), date="2026-02-02")
    path = store.save(record(measurements={"amp/one": old}), folder)
    before = json.loads(path.read_text())
    store.save(record(measurements={"amp/two": new}), folder)
    after = json.loads(path.read_text())
    assert after["measurements"]["amp/one"] == before["measurements"]["amp/one"]
    assert before["sources"].items() <= after["sources"].items()
    assert records.load(folder)[0].measurements == {"amp/one": old, "amp/two": new}


def test_equal_sources_are_stated_once_and_unused_ones_not_at_all(folder):
    first, second = source("hosted"), source("user")
    held = {"amp/one": measurement(source=first), "amp/two": measurement(source=source("hosted"))}
    path = store.save(record(measurements=held), folder)
    assert list(json.loads(path.read_text())["sources"]) == [first.key]
    store.save(record(measurements={id: measurement(source=second) for id in held}), folder)
    assert list(json.loads(path.read_text())["sources"]) == [second.key]


# --- nothing is lost ----------------------------------------------------------------------------


def test_a_full_disk_leaves_the_old_record_and_no_litter(folder, monkeypatch):
    path = store.save(record(), folder)
    before, hidden = path.read_text(), files(folder / ".journal")

    def full(self, *arguments, **options):
        with open(self, "w") as file:
            file.write("{")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        store.save(record(measurements={"amp/two": measurement()}), folder)
    assert files(folder) == [path.name]
    assert files(folder / ".journal") == hidden
    assert path.read_text() == before


def test_a_record_that_is_a_link_remains_one_and_keeps_its_mode(folder, tmp_path):
    path = store.save(record(), folder)
    path.chmod(0o640)
    target = path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(target)
    store.save(record(measurements={"amp/two": measurement()}), folder)
    assert path.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert len(records.load(folder)[0].measurements) == 2
    assert files(tmp_path) == ["elsewhere.json"]


def test_what_is_journalled_is_read_at_once_and_goes_into_the_file_at_the_next_save(folder):
    path = store.save(record(), folder)
    before = path.read_text()
    store.append(record(measurements={"amp/two": measurement()}), folder)
    store.append(record(measurements={"amp/one": measurement("absent")}), folder)
    assert path.read_text() == before
    (held,) = records.load(folder)
    assert {id: one.verdict for id, one in held.measurements.items()} == {
        "amp/one": "absent",
        "amp/two": "reproduced",
    }
    store.save(record(measurements={}), folder)
    assert not (folder / ".journal" / path.name).exists()
    assert records.load(folder) == [held]


def test_a_line_that_a_killed_run_left_does_not_hide_a_newer_file(folder):
    def dated(verdict, date):
        return record(measurements={"amp/one": measurement(verdict, date=date)})

    store.append(dated("reproduced", "2026-01-02"), folder)
    newer = dated("absent", "2026-01-03")
    newer.path(folder).write_text(json.dumps(newer.to_json()))  # replaces the file, like git
    assert records.load(folder) == [newer]
    store.save(record(measurements={}), folder)
    assert records.load(folder) == [newer]
    store.append(dated("flaky", "2026-01-03"), folder)
    assert records.load(folder) == [dated("flaky", "2026-01-03")]


def test_a_journal_without_a_file_is_read_too(folder):
    store.append(record(), folder)
    assert files(folder) == []
    assert records.load(folder) == [record()]


def test_a_line_that_a_kill_cut_off_costs_no_other_line(folder):
    for id in ("amp/one", "amp/two"):
        store.append(record(measurements={id: measurement()}), folder)
    journal = folder / ".journal" / record().name
    journal.write_text(journal.read_text()[:-40])
    assert list(records.load(folder)[0].measurements) == ["amp/one"]
    store.append(record(measurements={"amp/three": measurement()}), folder)
    assert list(records.load(folder)[0].measurements) == ["amp/one", "amp/three"]
    store.save(record(measurements={}), folder)
    assert list(records.load(folder)[0].measurements) == ["amp/one", "amp/three"]


@pytest.mark.parametrize("line", ["5", "[]", "null", '"half', "{"])
def test_a_line_of_a_journal_that_is_no_record_stops_nothing(folder, line):
    store.append(record(), folder)
    journal = folder / ".journal" / record().name
    journal.write_text(f"{line}\n{journal.read_text()}")
    store.save(record(measurements={"amp/two": measurement()}), folder)
    assert list(records.load(folder)[0].measurements) == ["amp/one", "amp/two"]


def test_a_journal_is_checked_like_a_file(folder):
    store.append(record(), folder)
    journal = folder / ".journal" / record().name
    journal.write_text(journal.read_text().replace("2026-01-01", "2099-01-01"))
    assert problems_of(record().path(folder)) == (
        [f"{journal}:1: amp/one: date: '2099-01-01' is not between 2026-01-01 and tomorrow"],
        None,
    )


def test_keeping_a_measurement_costs_the_same_in_a_large_record(folder):
    def growth():
        before = journal.stat().st_size if journal.exists() else 0
        store.append(record(measurements={"amp/more": measurement()}), folder)
        return journal.stat().st_size - before

    journal = folder / ".journal" / record().name
    first = growth()
    path = store.save(
        record(measurements={f"amp/{n:04}": measurement() for n in range(500)}), folder
    )
    written = path.stat().st_mtime_ns
    assert growth() == growth() == first
    assert path.stat().st_mtime_ns == written


WRITER = """
import sys
sys.path[:0] = [{root!r}]
from pathlib import Path
from tests.harness.recorded import measurement, record
from matrix.evidence import store
for number in range(60):
    one = record(measurements={{f"amp/{name}_{{number}}": measurement()}})
    (store.save if number % 3 == 0 else store.append)(one, Path({folder!r}))
store.save(record(measurements={{}}), Path({folder!r}))
"""


def writer(folder, name):
    program = WRITER.format(root=str(catalog.ROOT), folder=str(folder), name=name)
    return subprocess.Popen([sys.executable, "-c", program])


def test_two_processes_that_write_one_record_lose_nothing(folder):
    writers = [writer(folder, name) for name in ("left", "right")]
    assert [one.wait(60) for one in writers] == [0, 0]
    (held,) = records.load(folder)
    assert len(held.measurements) == 120


def test_a_killed_process_leaves_no_lock_behind(folder):
    program = (
        f"import sys, time; sys.path[:0] = [{str(catalog.ROOT)!r}]; from pathlib import Path\n"
        "from matrix.evidence import records\n"
        f"with store._locked(Path({str(record().path(folder))!r})):\n"
        "    print(flush=True)\n    time.sleep(60)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    holder.stdout.readline()
    holder.kill()
    holder.wait()
    started = time.monotonic()
    store.save(record(), folder)
    assert time.monotonic() - started < 5
    assert records.load(folder) == [record()]


def test_a_folder_that_takes_no_file_is_noticed_before_anything_is_measured(folder, monkeypatch):
    store.check_writable(folder)
    assert files(folder) == []
    tried = []

    def read_only(dir):
        tried.append(dir)
        if dir == folder:
            raise OSError(errno.EROFS, "Read-only file system")
        return io.BytesIO()

    monkeypatch.setattr(store.tempfile, "TemporaryFile", read_only)
    with pytest.raises(OSError, match="Read-only"):
        store.check_writable(folder)
    assert tried == [folder / ".journal", folder]


def test_what_is_hidden_beside_records_is_ignored_by_git(folder):
    store.save(record(), folder)
    store.append(record(), folder)
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    shown = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    assert shown.stdout == f"?? {record().name}\n"


# --- merging ------------------------------------------------------------------------------------


def updated(old, new, current=None, changes_only=False):
    left, right = (record(measurements={"amp/one": one}) for one in (old, new))
    return store.updates(left, right, current or {}, changes_only) != {}


def test_of_two_measurements_the_newer_one_stays():
    old, new = measurement(date="2026-01-01"), measurement(date="2026-01-02")
    assert updated(old, new)
    assert not updated(new, old)
    assert not updated(old, old)


@pytest.mark.parametrize(
    "changed", [{"source": source("user")}, {"seconds": 9.0}, {"hash": "1" * 16}]
)
def test_of_two_measurements_of_one_day_the_same_one_stays_in_either_order(changed):
    one, other = measurement(), measurement(**changed)
    assert updated(one, other) != updated(other, one)


def test_a_measurement_of_the_code_as_it_is_now_outranks_a_newer_one(root):
    plant(root, "amp/one", "def reproduce(device):\n    return None\n")
    (current,) = catalog.load(root)
    now = measurement("absent", hash=current.hash, date="2026-01-01")
    newer = measurement(date="2026-09-09")
    assert not updated(now, newer, {"amp/one": current})
    assert updated(newer, now, {"amp/one": current})


def test_a_contradiction_is_named_and_replaces_nothing():
    old, new = measurement("reproduced"), measurement("absent", date="2026-02-02")
    assert not updated(old, new)
    held = [record(measurements={"amp/one": one, "amp/two": measurement()}) for one in (old, new)]
    assert store.contradictions(*held) == ["amp/one"]
    assert updated(old, measurement("absent", date="2026-02-02", hash="1" * 16))  # the code differs


@pytest.mark.parametrize(
    ("changed", "taken"),
    [
        ({}, False),
        ({"seconds": 9.0, "runs": 7, "agreeing": 7, "source": source("user")}, False),
        ({"popular_fix": "another number"}, False),
        ({"popular_fix": ""}, True),
        ({"popular_fix": None}, True),
        ({"hash": "1" * 16}, True),
    ],
)
def test_with_changes_only_the_same_outcome_changes_nothing(changed, taken):
    old = measurement(popular_fix="still there")
    new = measurement(**{"popular_fix": "still there", "date": "2026-02-02", **changed})
    assert updated(old, new, changes_only=True) is taken
    assert updated(old, new)
