"""Records: what they hold, what is refused, and that nothing is lost."""

import datetime
import errno
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers import plant
from recorded import measurement, record, source

from matrix import catalog
from matrix.evidence import records
from matrix.verdicts import Result


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "records"


def problems_of(path):
    """What reading its folder reports, and what is left of the record."""
    found, problems = records.read_all(path.parent)
    held = next((one for one in found if one.path(path.parent) == path), None)
    return problems, held


READER = """
import json, sys
sys.path[:0] = [sys.argv[1]]
from pathlib import Path
from matrix.evidence import records
found, problems = records.read_all(Path(sys.argv[2]))
print(json.dumps([[one.name for one in found], problems]))
"""


def read_in_another_process(folder):
    done = subprocess.run(
        [sys.executable, "-c", READER, catalog.ROOT, folder],
        check=True,
        capture_output=True,
        timeout=30,
    )
    return json.loads(done.stdout)


def files(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def test_a_record_survives_the_way_to_disk_and_back(folder):
    path = record().save(folder)
    assert path == record().path(folder)
    assert path.name == "cpu_linux-x86_64_torch-2.4.1+cu121.json"
    assert records.read(path) == (record(), [])
    assert records.load(folder) == [record()]


def test_the_projects_own_records_have_no_problem():
    assert records.read_all()[1] == []


def test_records_of_different_machines_have_different_names():
    mac = {"device": "mps", "platform": "darwin", "machine": "arm64", "gpu": "Apple M2"}
    names = [
        one.name
        for one in (
            record(),
            record("2.5.1"),
            record(machine="aarch64"),
            record(device="cuda", gpu="NVIDIA H200"),
            record(device="cuda", gpu="NVIDIA A100"),
            record(**mac, system="macOS 15.1"),
            record(**mac, system="macOS 14.0"),
            record(**mac, system="macOS 14.0", virtual=True),
        )
    ]
    assert len(set(names)) == len(names)
    assert names[3] == "cuda_nvidia-h200_linux-x86_64_torch-2.4.1+cu121.json"
    assert names[7] == "mps_apple-m2_paravirtual_macos-14.0_darwin-arm64_torch-2.4.1+cu121.json"


def test_gpus_whose_names_are_alike_have_records_of_their_own():
    names = ["A B", "A-B", "A/B", "A  B", "A - B"]
    assert len({record(device="cuda", gpu=name).name for name in names}) == len(names)
    assert record(device="cuda", gpu="A B").name == "cuda_a-b_linux-x86_64_torch-2.4.1+cu121.json"


def test_records_are_read_oldest_torch_first(folder):
    for version in ("2.10.0", "2.9.1+cpu", "1.13.1+cu117"):
        record(version).save(folder)
    assert [one.minor for one in records.load(folder)] == ["1.13", "2.9", "2.10"]


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "line", "text"),
    [
        (lambda text: text[: len(text) // 2], 18, "not JSON"),
        (lambda text: "", 1, "not JSON"),
        (lambda text: "[" * 100_000, 1, "not JSON"),
        (lambda text: "[]", 1, "not a record: expected an object, found []"),
        (lambda text: "{\n<<<<<<< ours\n" + text, 2, "the mark of an unresolved merge conflict"),
        (lambda text: text.replace("2.4.1+cu121", "2.5.1"), 3, "this record should be called cpu_"),
        (lambda text: text.replace("2.4.1+cu121", "two"), 3, "torch: 'two' is not a version"),
        (lambda text: text.replace('"cpu"', '"tpu"'), 2, "device: 'tpu' is not one of cpu, "),
        (
            lambda text: text.replace(' "machine"', ' "who": "me",\n "machine"'),
            5,
            "who: unknown key",
        ),
        (lambda text: text.replace(' "machine": "x86_64",\n', ""), 1, "machine: missing"),
        (
            lambda text: json.dumps({**json.loads(text), "measurements": {}}, indent=1),
            22,
            "an empty record",
        ),
        (
            lambda text: json.dumps({**json.loads(text), "sources": []}, indent=1),
            6,
            "sources: expected an object",
        ),
        (lambda text: text.replace('"self"', '"me"'), 7, "source KEY: kind: 'me' is not one"),
        (lambda text: text.replace('"self"', '"hosted"'), 7, "source KEY: its content was"),
        (lambda text: text.replace("3.11.7", "3.99.9"), 7, "source KEY: its content was"),
        (
            lambda text: text.replace('   "os": "Linux"', '   "os": "Linux", "x": 1'),
            7,
            "source KEY: build:",
        ),
    ],
)
def test_a_bad_file_is_named_with_its_line_and_the_others_are_read(folder, spoil, line, text):
    path = record().save(folder)
    spoiled = spoil(path.read_text())
    assert spoiled != path.read_text()
    path.write_text(spoiled)
    other = record("2.6.0")
    other.save(folder)
    found, (problem,) = records.read_all(folder)
    assert found == [other]
    assert problem.startswith(f"{path}:{line}: {text.replace('KEY', source().key)}")
    with pytest.raises(records.RecordsError) as error:
        records.load(folder)
    assert str(error.value) == problem


def test_a_file_that_is_no_text_is_a_problem_of_one_line(folder):
    record("2.6.0").save(folder)
    (folder / "latin.json").write_bytes(b'{"\xe9": 1}')
    (folder / "folder.json").mkdir()
    (folder / "gone.json").symlink_to(folder / "nowhere")
    found, problems = records.read_all(folder)
    assert len(found) == 1
    assert [problem.removeprefix(f"{folder}/") for problem in problems] == [
        "folder.json:1: cannot be read: Not a regular file",
        "gone.json:1: cannot be read: No such file or directory",
        "latin.json:1: cannot be read: not UTF-8",
    ]


@pytest.mark.parametrize("place", [".", ".journal"])
def test_a_pipe_is_a_problem_and_not_waited_for(folder, place):
    path = record().save(folder)
    pipe = folder / place / "pipe.json"
    os.mkfifo(pipe)
    found, problems = read_in_another_process(folder)  # which can be ended
    assert [found, problems] == [[path.name], [f"{pipe}:1: cannot be read: Not a regular file"]]


TOMORROW = datetime.date.today() + datetime.timedelta(days=1)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("verdict", "reprodcued", "verdict: 'reprodcued' is not one of reproduced, absent"),
        ("verdict", 5, "verdict: 5 is not one of"),
        ("verdict", ["absent"], "verdict: ['absent'] is not one of"),
        ("text", None, "text: None is not text"),
        ("detail", 1, "detail: 1 is not text"),
        ("popular_fix", False, "popular_fix: False is neither text nor null"),
        ("runs", 5000, "runs: 5000 is not a whole number from 0 to 1000"),
        ("runs", 5.0, "runs: 5.0 is not a whole number"),
        ("runs", True, "runs: True is not a whole number"),
        ("agreeing", 9, "agreeing, runs: 9 of 5; expected 0 < agreeing <= runs"),
        ("agreeing", 0, "agreeing, runs: 0 of 5; expected 0 < agreeing <= runs"),
        ("agreeing", 4, "agreeing, runs: 4 of 5; runs that disagree, and only they, are flaky"),
        (
            "verdict",
            "flaky",
            "agreeing, runs: 5 of 5; runs that disagree, and only they, are flaky",
        ),
        ("verdict", "unavailable", "agreeing, runs: 5 of 5; expected 0 of 0 for unavailable"),
        ("seconds", -1, "seconds: -1 is not a finite number of 0 or more"),
        pytest.param("seconds", 10**400, "is not a finite number of 0 or more", id="huge"),
        ("text", "\udc80", "text: '\\udc80' holds characters that cannot be printed"),
        ("detail", "\x1b[2J", "detail: '\\x1b[2J' holds characters that cannot be printed"),
        ("text", "\u202e", "text: '\\u202e' holds characters that cannot be printed"),
        ("text", "a\u2028b", "text: 'a\\u2028b' holds characters that cannot be printed"),
        ("text", "a\u200bb", "text: 'a\\u200bb' holds characters that cannot be printed"),
        pytest.param(
            "text", "x" * 50_000_000, "is longer than 201000 characters", id="50 MB of text"
        ),
        ("popular_fix", "\x00", "popular_fix: '\\x00' holds characters that cannot be printed"),
        ("seconds", float("nan"), "seconds: nan is not a finite number"),
        ("peak_mib", float("inf"), "peak_mib: inf is not a finite number"),
        ("peak_mib", "1", "peak_mib: '1' is not a finite number"),
        ("hash", "0" * 15 + "G", "is not 16 hexadecimal digits"),
        ("hash", "0" * 15, "is not 16 hexadecimal digits"),
        ("date", None, "date: None is not a date such as"),
        ("date", "2026-2-1", "date: '2026-2-1' is not a date such as"),
        ("date", "20260201", "date: '20260201' is not a date such as"),
        ("date", "2026-02-30", "date: '2026-02-30' is not a date such as"),
        ("date", "2099-01-01", "date: '2099-01-01' is not between 2026-01-01 and tomorrow"),
        ("date", "2025-12-31", "date: '2025-12-31' is not between 2026-01-01 and tomorrow"),
        ("date", (TOMORROW + datetime.timedelta(days=1)).isoformat(), "and tomorrow"),
        ("source", "f" * 12, "source: 'ffffffffffff' is not one of the file's sources"),
        ("source", 1, "source: 1 is not the key of a source"),
        ("verdit", "absent", "verdit: unknown key; expected one of verdict, text"),
    ],
)
def test_a_bad_value_is_named_with_file_line_and_id_and_the_others_are_read(
    folder, key, value, text
):
    path = record(measurements={"amp/one": measurement(), "amp/two": measurement()}).save(folder)
    raw = json.loads(path.read_text())
    raw["measurements"]["amp/two"][key] = value
    path.write_text(json.dumps(raw, indent=1))
    (problem,), held = problems_of(path)
    line = records.line_of(path, "amp/two")
    assert path.read_text().splitlines()[line - 1].strip() == '"amp/two": {'
    assert problem.startswith(f"{path}:{line}: amp/two: ")
    assert text in problem
    assert list(held.measurements) == ["amp/one"]


def test_a_date_may_be_one_day_ahead_for_time_zones(folder):
    record(measurements={"amp/one": measurement(date=TOMORROW.isoformat())}).save(folder)
    assert len(records.load(folder)) == 1


def test_a_key_that_is_there_twice_is_a_problem(folder):
    path = record().save(folder)
    text = path.read_text()
    head, _, tail = text.partition('  "amp/one"')
    path.write_text(f'{head}  "amp/one": {{}},\n  "amp/one"{tail}')
    (problem,), held = problems_of(path)
    assert "'amp/one' is there twice" in problem
    assert held is None


def test_a_measurement_of_a_missing_key_says_which(folder):
    path = record().save(folder)
    raw = json.loads(path.read_text())
    del raw["measurements"]["amp/one"]["date"]
    raw["measurements"]["amp"] = dict(raw["measurements"]["amp/one"], date="2026-01-01")
    path.write_text(json.dumps(raw, indent=1))
    problems, held = problems_of(path)
    assert [problem.split(": ", 1)[1] for problem in problems] == [
        "amp/one: date: missing",
        "amp: 'amp' is not an id such as amp/unscale_twice",
    ]
    assert held is None


@pytest.mark.parametrize("id", ["../x", "amp/..", "amp/a b", "amp/\x1b", "/x", "a/b/c"])
def test_an_id_that_no_reproducer_can_have_is_refused(folder, id):
    with pytest.raises(records.RecordsError, match="is not an id such as"):
        record(measurements={id: measurement()}).save(folder)


def test_a_key_that_cannot_be_printed_is_named_all_the_same(folder):
    path = record().save(folder)
    path.write_text(path.read_text().replace("amp/one", "amp/\\udc80\\u001b"))
    (problem,), _ = problems_of(path)
    assert "amp/\\udc80\\x1b: 'amp/\\udc80\\x1b' is not an id" in problem


def test_a_problem_is_one_line_whatever_an_id_holds(folder):
    path = record().save(folder)
    path.write_text(path.read_text().replace("amp/one", "a/b\\n::error"))
    (problem,), _ = problems_of(path)
    assert "\n" not in problem
    assert r"a/b\n::error: 'a/b\n::error' is not an id" in problem


@pytest.mark.parametrize("fact", [pytest.param(10**400, id="huge"), "\udc80", "\x07", 1.5, []])
def test_a_fact_is_short_and_printable(folder, fact):
    held = {"amp/one": measurement(source=source(hardware={"driver": fact}))}
    with pytest.raises(records.RecordsError, match="hardware: .* states no plain fact for driver"):
        record(measurements=held).save(folder)


def test_what_a_reproducer_returns_is_kept_whatever_it_holds(folder, root):
    plant(root, "amp/one", "def reproduce(device):\n    return None\n")
    (one,) = catalog.load(root)
    text = "a\tb\nc\x1b[31m \udc80 \r é 🙂"
    result = Result(
        "amp/one", "cpu", "reproduced", "reproduced", text, text, text, runs=1, agreeing=1
    )
    held = records.Measurement.of(result, one, source(), "2026-01-01")
    record(measurements={"amp/one": held}).save(folder)
    (kept,) = records.load(folder)[0].measurements.values()
    assert kept.text == kept.detail == kept.popular_fix == "a\tb\nc\\x1b[31m \\udc80 \\r é 🙂"


def test_saving_never_replaces_a_file_that_cannot_be_read(folder):
    path = record().save(folder)
    path.write_text(path.read_text().replace('"reproduced"', '"reprodcued"'))
    spoiled = path.read_text()
    with pytest.raises(records.RecordsError, match="amp/one: verdict: 'reprodcued'"):
        record(measurements={"amp/two": measurement()}).save(folder)
    assert path.read_text() == spoiled


def test_what_could_not_be_read_again_is_never_written(folder):
    path = record().save(folder)
    before = path.read_text()
    bad = record(measurements={"amp/two": measurement(date="1970-01-01")})
    for write in (bad.save, bad.append):
        with pytest.raises(
            records.RecordsError, match="amp/two: date: '1970-01-01' is not between"
        ):
            write(folder)
    assert path.read_text() == before
    assert not (folder / ".journal" / path.name).exists()


# --- sources ------------------------------------------------------------------------------------


def test_a_new_measurement_leaves_what_others_say_of_their_origin(folder):
    old = measurement(source=source("hosted", hardware={"name": "Old CPU"}))
    new = measurement(source=source("user", hardware={"name": "New CPU"}), date="2026-02-02")
    path = record(measurements={"amp/one": old}).save(folder)
    before = json.loads(path.read_text())
    record(measurements={"amp/two": new}).save(folder)
    after = json.loads(path.read_text())
    assert after["measurements"]["amp/one"] == before["measurements"]["amp/one"]
    assert before["sources"].items() <= after["sources"].items()
    assert records.load(folder)[0].measurements == {"amp/one": old, "amp/two": new}


def test_equal_sources_are_stated_once_and_unused_ones_not_at_all(folder):
    first, second = source("hosted"), source("user")
    held = {"amp/one": measurement(source=first), "amp/two": measurement(source=source("hosted"))}
    path = record(measurements=held).save(folder)
    assert list(json.loads(path.read_text())["sources"]) == [first.key]
    record(measurements={id: measurement(source=second) for id in held}).save(folder)
    assert list(json.loads(path.read_text())["sources"]) == [second.key]


# --- nothing is lost ----------------------------------------------------------------------------


def test_a_full_disk_leaves_the_old_record_and_no_litter(folder, monkeypatch):
    path = record().save(folder)
    before, hidden = path.read_text(), files(folder / ".journal")

    def full(self, *arguments, **options):
        with open(self, "w") as file:
            file.write("{")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        record(measurements={"amp/two": measurement()}).save(folder)
    assert files(folder) == [path.name]
    assert files(folder / ".journal") == hidden
    assert path.read_text() == before


def test_a_record_that_is_a_link_remains_one_and_keeps_its_mode(folder, tmp_path):
    path = record().save(folder)
    path.chmod(0o640)
    target = path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(target)
    record(measurements={"amp/two": measurement()}).save(folder)
    assert path.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert len(records.load(folder)[0].measurements) == 2
    assert files(tmp_path) == ["elsewhere.json"]


def test_what_is_journalled_is_read_at_once_and_goes_into_the_file_at_the_next_save(folder):
    path = record().save(folder)
    before = path.read_text()
    record(measurements={"amp/two": measurement()}).append(folder)
    record(measurements={"amp/one": measurement("absent")}).append(folder)
    assert path.read_text() == before
    (held,) = records.load(folder)
    assert {id: one.verdict for id, one in held.measurements.items()} == {
        "amp/one": "absent",
        "amp/two": "reproduced",
    }
    record(measurements={}).save(folder)
    assert not (folder / ".journal" / path.name).exists()
    assert records.load(folder) == [held]


def test_a_line_that_a_killed_run_left_does_not_hide_a_newer_file(folder):
    def dated(verdict, date):
        return record(measurements={"amp/one": measurement(verdict, date=date)})

    dated("reproduced", "2026-01-02").append(folder)
    newer = dated("absent", "2026-01-03")
    newer.path(folder).write_text(json.dumps(newer.to_json()))  # as git does
    assert records.load(folder) == [newer]
    record(measurements={}).save(folder)
    assert records.load(folder) == [newer]
    dated("flaky", "2026-01-03").append(folder)
    assert records.load(folder) == [dated("flaky", "2026-01-03")]


def test_a_journal_without_a_file_is_read_too(folder):
    record().append(folder)
    assert files(folder) == []
    assert records.load(folder) == [record()]


def test_a_line_that_a_kill_cut_off_costs_no_other_line(folder):
    for id in ("amp/one", "amp/two"):
        record(measurements={id: measurement()}).append(folder)
    journal = folder / ".journal" / record().name
    journal.write_text(journal.read_text()[:-40])
    assert list(records.load(folder)[0].measurements) == ["amp/one"]
    record(measurements={"amp/three": measurement()}).append(folder)
    assert list(records.load(folder)[0].measurements) == ["amp/one", "amp/three"]
    record(measurements={}).save(folder)
    assert list(records.load(folder)[0].measurements) == ["amp/one", "amp/three"]


@pytest.mark.parametrize("line", ["5", "[]", "null", '"half', "{"])
def test_a_line_of_a_journal_that_is_no_record_stops_nothing(folder, line):
    record().append(folder)
    journal = folder / ".journal" / record().name
    journal.write_text(f"{line}\n{journal.read_text()}")
    record(measurements={"amp/two": measurement()}).save(folder)
    assert list(records.load(folder)[0].measurements) == ["amp/one", "amp/two"]


def test_a_journal_is_checked_like_a_file(folder):
    record().append(folder)
    journal = folder / ".journal" / record().name
    journal.write_text(journal.read_text().replace("2026-01-01", "2099-01-01"))
    assert problems_of(record().path(folder)) == (
        [f"{journal}:1: amp/one: date: '2099-01-01' is not between 2026-01-01 and tomorrow"],
        None,
    )


def test_keeping_a_measurement_costs_the_same_in_a_large_record(folder):
    def growth():
        before = journal.stat().st_size if journal.exists() else 0
        record(measurements={"amp/more": measurement()}).append(folder)
        return journal.stat().st_size - before

    journal = folder / ".journal" / record().name
    first = growth()
    path = record(measurements={f"amp/{n:04}": measurement() for n in range(500)}).save(folder)
    written = path.stat().st_mtime_ns
    assert growth() == growth() == first
    assert path.stat().st_mtime_ns == written


WRITER = """
import sys
sys.path[:0] = {paths}
from pathlib import Path
from recorded import measurement, record
for number in range(60):
    one = record(measurements={{f"amp/{name}_{{number}}": measurement()}})
    (one.save if number % 3 == 0 else one.append)(Path({folder!r}))
record(measurements={{}}).save(Path({folder!r}))
"""


def writer(folder, name):
    paths = [str(catalog.ROOT), str(Path(__file__).parents[1])]
    program = WRITER.format(paths=paths, folder=str(folder), name=name)
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
        f"with records._locked(Path({str(record().path(folder))!r})):\n"
        "    print(flush=True)\n    time.sleep(60)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    holder.stdout.readline()
    holder.kill()
    holder.wait()
    started = time.monotonic()
    record().save(folder)
    assert time.monotonic() - started < 5
    assert records.load(folder) == [record()]


def test_a_folder_that_takes_no_file_is_noticed_before_anything_is_measured(folder, monkeypatch):
    records.check_writable(folder)
    assert files(folder) == []
    tried = []

    def read_only(dir):
        tried.append(dir)
        if dir == folder:
            raise OSError(errno.EROFS, "Read-only file system")
        return io.BytesIO()

    monkeypatch.setattr(records.tempfile, "TemporaryFile", read_only)
    with pytest.raises(OSError, match="Read-only"):
        records.check_writable(folder)
    assert tried == [folder / ".journal", folder]


def test_what_is_hidden_beside_records_is_ignored_by_git(folder):
    record().save(folder)
    record().append(folder)
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    shown = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    assert shown.stdout == f"?? {record().name}\n"


# --- comparing ----------------------------------------------------------------------------------


def updated(old, new, current=None, changes_only=False):
    left, right = (record(measurements={"amp/one": one}) for one in (old, new))
    return records.updates(left, right, current or {}, changes_only) != {}


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
    assert records.contradictions(*held) == ["amp/one"]
    assert updated(old, measurement("absent", date="2026-02-02", hash="1" * 16))  # other code


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


def test_the_hash_follows_the_code_and_the_symptom_and_nothing_else(root):
    code = "def reproduce(device):\n    return {!r}\n"
    for name, text, header in (
        ("one", "boom", {}),
        ("words", "boom", {"title": '"other words"', "fix": '"amp.x"'}),
        ("code", "thud", {}),
        ("symptom", "boom", {"symptom": '"thud"'}),
    ):
        plant(root, f"amp/{name}", code.format(text), **header)
    hashes = {one.name: one.hash for one in catalog.load(root)}
    assert hashes["words"] == hashes["one"]
    assert len({hashes["one"], hashes["code"], hashes["symptom"]}) == 3
