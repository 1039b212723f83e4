"""Tests that invalid records are rejected."""

import datetime
import json
import os
import subprocess
import sys

import pytest

from matrix import catalog
from matrix.evidence import records, schema, store
from matrix.verdicts import Result
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


READER = """
import json, sys
sys.path[:0] = [sys.argv[1]]
from pathlib import Path
from matrix.evidence import records, schema, store
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


def test_a_record_survives_the_way_to_disk_and_back(folder):
    path = store.save(record(), folder)
    assert path == record().path(folder)
    assert path.name == "cpu_linux-x86_64_torch-2.4.1+cu121.json"
    assert records.read(path) == (record(), [])
    assert records.load(folder) == [record()]


def test_the_projects_own_records_have_no_problem():
    assert records.read_all()[1] == []


def test_records_are_read_oldest_torch_first(folder):
    for version in ("2.10.0", "2.9.1+cpu", "1.13.1+cu117"):
        store.save(record(version), folder)
    assert [one.minor for one in records.load(folder)] == ["1.13", "2.9", "2.10"]


# --- rejected records ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "line", "text"),
    [
        (lambda text: text[: len(text) // 2], 18, "not JSON"),
        (lambda text: "", 1, "not JSON"),
        (lambda text: "[" * 100_000, 1, "not JSON"),
        (lambda text: "[]", 1, "not a record: expected an object, found []"),
        (lambda text: "{\n<<<<<<< ours\n" + text, 2, "a marker of an unresolved merge conflict"),
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
    path = store.save(record(), folder)
    spoiled = spoil(path.read_text())
    assert spoiled != path.read_text()
    path.write_text(spoiled)
    other = record("2.6.0")
    store.save(other, folder)
    found, (problem,) = records.read_all(folder)
    assert found == [other]
    assert problem.startswith(f"{path}:{line}: {text.replace('KEY', source().key)}")
    with pytest.raises(schema.RecordsError) as error:
        records.load(folder)
    assert str(error.value) == problem


def test_a_file_that_is_no_text_is_a_problem_of_one_line(folder):
    store.save(record("2.6.0"), folder)
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
    path = store.save(record(), folder)
    pipe = folder / place / "pipe.json"
    os.mkfifo(pipe)
    found, problems = read_in_another_process(folder)  # because this process can be killed
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
        ("text", "\udc80", "text: '\\udc80' contains characters that cannot be printed"),
        ("detail", "\x1b[2J", "detail: '\\x1b[2J' contains characters that cannot be printed"),
        ("text", "\u202e", "text: '\\u202e' contains characters that cannot be printed"),
        ("text", "a\u2028b", "text: 'a\\u2028b' contains characters that cannot be printed"),
        ("text", "a\u200bb", "text: 'a\\u200bb' contains characters that cannot be printed"),
        pytest.param(
            "text", "x" * 50_000_000, "is longer than 201000 characters", id="50 MB of text"
        ),
        ("popular_fix", "\x00", "popular_fix: '\\x00' contains characters that cannot be printed"),
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
    path = store.save(
        record(measurements={"amp/one": measurement(), "amp/two": measurement()}), folder
    )
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
    store.save(record(measurements={"amp/one": measurement(date=TOMORROW.isoformat())}), folder)
    assert len(records.load(folder)) == 1


def test_a_key_that_is_there_twice_is_a_problem(folder):
    path = store.save(record(), folder)
    text = path.read_text()
    head, _, tail = text.partition('  "amp/one"')
    path.write_text(f'{head}  "amp/one": {{}},\n  "amp/one"{tail}')
    (problem,), held = problems_of(path)
    assert "'amp/one' occurs twice" in problem
    assert held is None


def test_a_measurement_of_a_missing_key_says_which(folder):
    path = store.save(record(), folder)
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
    with pytest.raises(schema.RecordsError, match="is not an id such as"):
        store.save(record(measurements={id: measurement()}), folder)


def test_a_key_that_cannot_be_printed_is_named_all_the_same(folder):
    path = store.save(record(), folder)
    path.write_text(path.read_text().replace("amp/one", "amp/\\udc80\\u001b"))
    (problem,), _ = problems_of(path)
    assert "amp/\\udc80\\x1b: 'amp/\\udc80\\x1b' is not an id" in problem


def test_a_problem_is_one_line_whatever_an_id_holds(folder):
    path = store.save(record(), folder)
    path.write_text(path.read_text().replace("amp/one", "a/b\\n::error"))
    (problem,), _ = problems_of(path)
    assert "\n" not in problem
    assert r"a/b\n::error: 'a/b\n::error' is not an id" in problem


@pytest.mark.parametrize("fact", [pytest.param(10**400, id="huge"), "\udc80", "\x07", 1.5, []])
def test_a_fact_is_short_and_printable(folder, fact):
    held = {"amp/one": measurement(source=source(hardware={"driver": fact}))}
    with pytest.raises(schema.RecordsError, match="hardware: .* states no plain fact for driver"):
        store.save(record(measurements=held), folder)


def test_what_a_reproducer_returns_is_kept_whatever_it_holds(folder, root):
    plant(root, "amp/one", "def reproduce(device):\n    return None\n")
    (one,) = catalog.load(root)
    text = "a\tb\nc\x1b[31m \udc80 \r é 🙂"
    result = Result(
        "amp/one", "cpu", "reproduced", "reproduced", text, text, text, runs=1, agreeing=1
    )
    held = schema.Measurement.of(result, one, source(), "2026-01-01")
    store.save(record(measurements={"amp/one": held}), folder)
    (kept,) = records.load(folder)[0].measurements.values()
    assert kept.text == kept.detail == kept.popular_fix == "a\tb\nc\\x1b[31m \\udc80 \\r é 🙂"
