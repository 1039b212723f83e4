from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from matrix import catalog, toml
from tests.trials import device
from tests.trials.device import Part

PYPROJECT = toml.loads((catalog.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIREMENTS = {
    re.split(r"[<>=]", text)[0]
    for text in PYPROJECT["dependencies"] + PYPROJECT["optional-dependencies"]["test"]
}
THERE = {"numpy", "pygments"}  # the one with torch, the other with pytest and rich

IMPORTS = """
import sys

for name in sys.argv[1:]:
    sys.modules[name] = None  # importing it raises ImportError
import matrix.commands.measuring, matrix.run.environments, matrix.run.measure, matrix.verdicts
import tests.conftest, tests.fixes.conftest, tests.test_programs, tests.test_repros
import tests.trials.speed, tests.trials.texts.__main__
from matrix import catalog, verdicts

verdicts._mismatch("boom", "boom 3")
sys.argv[:] = ["torch-repros", "record", "--help"]
from matrix.commands import main

main()
"""


def test_the_parts_need_nothing_that_is_compiled() -> None:
    assert set(device.PACKED) <= REQUIREMENTS
    missing = sorted(REQUIREMENTS - set(device.PACKED) - THERE)
    assert "regex" in missing
    command = [sys.executable, "-c", IMPORTS, *missing]
    done = subprocess.run(command, cwd=catalog.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: torch-repros record")


def test_all_parts_together_take_less_than_eight_minutes() -> None:
    assert sum(part.seconds for part in device.PARTS) < 8 * 60


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    with zipfile.ZipFile(folder / "brought-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("brought.py", "text = 'brought along'\n")
    return folder


def program(text: str) -> str:
    return shlex.join(["{python}", "-c", text])


INTERRUPTED = """
import time
try:
    open("{folder}/begun", "w").close()
    time.sleep(60)
except KeyboardInterrupt:
    print("kept")
    raise SystemExit(2)
"""
PARTS = [
    Part("good", 30, program("import brought; print('{device}', brought.text)")),
    Part("bad", 30, program("raise SystemExit(3)")),
    Part("missing", 30, "no-such-program --device {device}"),
    Part("long", 3, program(INTERRUPTED)),
]


def test_each_part_is_kept_as_it_ends_with_how_it_ended(
    tmp_path: Path,
    wheels: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(device, "PARTS", tuple(PARTS))
    out = tmp_path / "out"
    assert device.main(["run", "cpu", str(wheels), str(out)]) == 1
    assert sorted(path.name for path in out.iterdir()) == [
        *("bad.tar.gz", "good.tar.gz", "long.tar.gz", "missing.tar.gz", "summary.json")
    ]
    summary = json.loads((out / "summary.json").read_text())
    assert [(one["part"], one["status"], one["why"]) for one in summary] == [
        ("good", 0, ""),
        ("bad", 3, ""),
        ("missing", None, "no-such-program is not installed"),
        ("long", 2, "interrupted after 3 s"),
    ]
    assert printed_by("good", out) == "cpu brought along\n"
    assert printed_by("long", out) == "kept\n"
    assert "== long: status 2, 3 s interrupted after 3 s\nkept\n" in capsys.readouterr().out


def printed_by(part: str, out: Path) -> str:
    with tarfile.open(out / f"{part}.tar.gz") as archive:
        file = archive.extractfile(f"{part}/output.txt")
        assert file
        return file.read().decode()


def test_a_part_that_does_not_end_is_killed_with_what_it_started(
    tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stubborn = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"
    monkeypatch.setattr(device, "ENDING", 0.5)
    (ended,) = device.measure("cpu", wheels, tmp_path / "out", [Part("s", 2, program(stubborn))])
    assert (ended.status, ended.why) == (-9, "interrupted after 2 s, killed after 0.5 s more")
    assert ended.seconds < 20


def test_a_record_resumes_what_is_known_of_the_device(tmp_path: Path, wheels: Path) -> None:
    listing = "import os; print(sorted(os.listdir('{folder}/records')))"
    out = tmp_path / "out"
    device.measure("cpu", wheels, out, [Part("record", 30, program(listing))])
    known = sorted(path.name for path in catalog.RECORDS.glob("cpu_*.json"))
    assert printed_by("record", out) == f"{known}\n"


def test_parts_are_named_with_limits_or_not() -> None:
    record, tests = device.chosen(["record=500", "tests"])
    assert (record.name, record.seconds) == ("record", 500.0)
    assert tests in device.PARTS
    assert device.chosen([]) == list(device.PARTS)


@pytest.mark.parametrize("text", ["repros", "record=soon", "=5"])
def test_a_part_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(SystemExit, match=re.escape(f"{text!r}: expected one of facts, texts")):
        device.chosen([text])


def test_a_folder_without_wheels_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no wheels in this folder; make it with: device.py pack"):
        device.main(["run", "cpu", str(tmp_path), str(tmp_path / "out")])
