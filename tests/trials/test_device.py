from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from matrix import catalog, toml
from tests.trials import device
from tests.trials.device import Part

PYPROJECT = toml.loads((catalog.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIREMENTS = {
    re.split(r"[<>=]", text)[0]
    for text in PYPROJECT["dependencies"] + PYPROJECT["optional-dependencies"]["test"]
}
Run = Callable[..., tuple[int, list[dict[str, Any]]]]
PRESENT = {"numpy", "pygments"}  # numpy comes with torch, pygments with pytest and rich

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
    missing = sorted(REQUIREMENTS - set(device.PACKED) - PRESENT)
    assert "regex" in missing
    command = [sys.executable, "-c", IMPORTS, *missing]
    done = subprocess.run(command, cwd=catalog.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: torch-repros record")


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    with zipfile.ZipFile(folder / "brought-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("brought.py", "text = 'brought along'\n")
    return folder


@pytest.fixture
def run(tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Returns a function that runs parts of `device.py run cpu` and returns status and summary."""

    def run_parts(parts: list[Part], *named: str) -> tuple[int, list[dict[str, Any]]]:
        monkeypatch.setattr(device, "PARTS", tuple(parts))
        out = tmp_path / "out"
        status = device.main(["run", "cpu", str(wheels), str(out), *named])
        return status, json.loads((out / "summary.json").read_text())

    return run_parts


def program(text: str) -> str:
    return shlex.join(["{python}", "-c", text])


def printed_by(part: str, out: Path, file: str = "output.txt") -> str:
    with tarfile.open(out / f"{part}.tar.gz") as archive:
        member = archive.extractfile(f"{part}/{file}")
        assert member
        return member.read().decode()


INTERRUPTED = """
import time
try:
    time.sleep(60)
except KeyboardInterrupt:
    print("kept")
    raise SystemExit(2)
"""
STUBBORN = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"


def test_each_part_is_saved_with_its_status_when_it_ends(
    tmp_path: Path,
    run: Run,
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, summary = run(
        [
            Part("good", 30, program("import brought; print('{device}', brought.text)")),
            Part("bad", 30, program("raise SystemExit(3)")),
            Part("missing", 30, "no-such-program --device {device}"),
            Part("long", 3, program(INTERRUPTED)),
            Part("other", 30, program("pass"), devices=("cuda",)),
        ]
    )
    assert status == 1
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        *("bad.tar.gz", "good.tar.gz", "long.tar.gz", "missing.tar.gz", "summary.json")
    ]
    assert [(part["part"], part["status"], part["why"]) for part in summary] == [
        ("good", 0, ""),
        ("bad", 3, ""),
        ("missing", None, "no-such-program is not installed"),
        ("long", 2, "interrupted after 3 s"),
    ]
    assert printed_by("good", out) == "cpu brought along\n"
    assert printed_by("long", out) == "kept\n"
    assert "== long: status 2, 3 s interrupted after 3 s\nkept\n" in capsys.readouterr().out


def test_a_part_has_its_own_variables_and_the_callers_path(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/callers")
    text = "import os, sys; assert '/callers' in sys.path; print(os.environ['OWN'])"
    status, _ = run([Part("own", 30, program(text), environment={"OWN": "yes"})])
    assert status == 0
    assert printed_by("own", tmp_path / "out") == "yes\n"


def test_a_part_that_does_not_end_is_killed_with_what_it_started(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(device, "ENDING", 0.5)
    own = tmp_path / "pid"
    starts = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open({str(own)!r}, "w").write(str(child.pid))
{STUBBORN}
"""
    _, (ended,) = run([Part("stubborn", 4, program(starts))])
    assert (ended["status"], ended["why"]) == (
        -9,
        "interrupted after 4 s, killed after 0.5 s more",
    )
    assert ended["seconds"] < 20
    child = int(own.read_text())
    for _ in range(100):  # the child ends shortly after the signal
        if not Path(f"/proc/{child}").exists() or " Z " in Path(f"/proc/{child}/stat").read_text():
            return
        time.sleep(0.1)
    raise AssertionError("the child is still running")


def test_all_parts_together_have_eight_minutes_however_stubborn_they_are(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "ENDING", 0.5)
    monkeypatch.setattr(device, "TOTAL", 5.0)
    begun = time.monotonic()
    status, summary = run([Part(name, 3, program(STUBBORN)) for name in "abc"])
    assert time.monotonic() - begun < 5 + 0.5 + 5  # 5 s more, because the machine may be busy
    assert status == 1
    assert summary[0]["why"] == "interrupted after 3 s, killed after 0.5 s more"
    assert summary[1]["seconds"] < 3
    assert (summary[2]["status"], summary[2]["why"]) == (None, "no time was left")


def test_a_named_part_has_its_own_time_limit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "TOTAL", 0.1)
    parts = [Part("slow", 0.1, program("import time; time.sleep(0.5)"))]
    status, _ = run(parts, "slow=30")
    assert status == 0


def test_a_second_call_adds_to_the_summary_of_the_first(
    run: Run,
) -> None:
    parts = [Part("one", 30, program("raise SystemExit(3)")), Part("two", 30, program("pass"))]
    run(parts)
    parts[0] = Part("one", 30, program("pass"))
    status, summary = run(parts, "one")
    assert status == 0
    assert [(part["part"], part["status"]) for part in summary] == [("two", 0), ("one", 0)]


WAITS = """
import pathlib, time
pathlib.Path("{folder}/begun").touch()
try:
    time.sleep(60)
except KeyboardInterrupt:
    print("kept")
"""
SCRIPT = """
import sys
from tests.trials import device

device.KEEPING = 0.1
device.PARTS = (device.Part("waits", 60, sys.argv[1]), device.Part("never", 60, sys.argv[1]))
sys.exit(device.main(["run", "cpu", *sys.argv[2:]]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_a_part_has_written_is_kept_when_the_program_is_ended(
    tmp_path: Path, wheels: Path, number: signal.Signals
) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-c", SCRIPT, program(WAITS), str(wheels), str(out)]
    process = subprocess.Popen(
        command, cwd=catalog.ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    try:
        for _ in range(300):  # the file is saved while the part runs
            with contextlib.suppress(FileNotFoundError, KeyError):
                assert printed_by("waits", out, "begun") == ""
                break
            time.sleep(0.1)
        else:
            raise AssertionError("nothing was kept")
    finally:
        process.send_signal(number)
    status = process.wait(30)
    if number == signal.SIGKILL:
        assert status == -signal.SIGKILL
        return
    assert status == 1
    assert printed_by("waits", out) == "kept\n"
    (ended,) = json.loads((out / "summary.json").read_text())
    assert (ended["part"], ended["why"]) == ("waits", "stopped with this program")


def test_the_part_record_resumes_from_the_known_records_of_the_device(
    run: Run, tmp_path: Path
) -> None:
    text = "import os; print(sorted(os.listdir('{folder}/records')))"
    run([Part("record", 30, program(text + "; open('{folder}/records/cpu_new.json', 'w')"))])
    known = sorted(path.name for path in catalog.RECORDS.glob("cpu_*.json"))
    assert printed_by("record", tmp_path / "out") == f"{known}\n"
    run([Part("record", 30, program(text))])
    assert printed_by("record", tmp_path / "out") == f"{sorted([*known, 'cpu_new.json'])}\n"


def test_parts_are_named_with_limits_or_not() -> None:
    record = device.named("record=500")
    assert (record.name, record.seconds) == ("record", 500.0)
    assert device.named("tests") in device.PARTS


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        device.main(arguments)
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("text", ["repros", "record=soon", "=5"])
def test_a_part_that_does_not_exist_is_refused(
    tmp_path: Path, wheels: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    out = tmp_path / "out"
    error = refused(["run", "cpu", str(wheels), str(out), text], capsys)
    assert f"{text!r}: expected one of facts, texts" in error
    assert not out.exists()


def test_a_device_that_does_not_exist_is_refused(
    tmp_path: Path, wheels: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "choose from" in refused(["run", "gpu", str(wheels), str(tmp_path / "out")], capsys)


def test_a_folder_without_wheels_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = refused(["run", "cpu", str(tmp_path), str(tmp_path / "out")], capsys)
    assert "no wheels in this folder; make it with: device.py pack" in error


def test_two_wheels_of_one_library_are_refused(
    tmp_path: Path, wheels: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (wheels / "brought-2.0-py3-none-any.whl").touch()
    error = refused(["run", "cpu", str(wheels), str(tmp_path / "out")], capsys)
    assert "two wheels of brought; keep one" in error
