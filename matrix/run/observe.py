"""Runs one reproducer once, for a report."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from .. import program
from ..catalog import Reproducer
from ..devices import unusable
from ..evidence.observation import NothingObserved, Observation, versions_of
from ..printing import printable
from . import processes, runner

NAME = "repro.py"  # the program's file name, which its traceback shows
LINES = 40  # the maximum number of output lines in a report
COLUMNS = 300
_FRAME = re.compile(r'(?m)^ *File ".*\n(?:    .*\n)*')
# Paths of installed libraries and of Python reveal more about the user than about the failure.
_INSTALLED = re.compile(
    r'(File "|^)[^"\s]*[/\\](?:site-packages[/\\]|lib[/\\](?=python\d))',
    re.IGNORECASE | re.MULTILINE,
)


def measured_here(reproducer: Reproducer, python: str, device: str | None) -> Observation:
    """Runs the reproducer once with this interpreter's torch and, if the failure is reproduced, the
    report's program.

    Raises runner.RunnerError or NothingObserved.
    """
    wanted = (device,) if device else reproducer.devices
    with runner.Worker(python, wanted) as worker:
        usable = [name for name in wanted if worker.devices[name]["ok"]]
        if not usable:
            why = "; ".join(unusable(name, worker.devices[name]["reason"]) for name in wanted)
            raise runner.RunnerError(f"{reproducer.id} applies to {', '.join(wanted)}: {why}")
        report = runner.run([reproducer], worker, tuple(usable))
    results = [result for result in report.results if result.runs]
    # prefer a device that shows the failure
    best = min(results, key=lambda result: result.verdict != "reproduced", default=None)
    if best is None:
        raise NothingObserved(f"{reproducer.id} cannot be run here: {report.results[0].detail}")
    printed = ""
    if best.verdict == "reproduced":
        printed = run_program(reproducer.program(best.device), python, reproducer.timeout)
        if not program.shows(printed, reproducer.symptom):
            raise NothingObserved(
                f"{reproducer.id} is reproduced here, but its program does not show it: there is "
                f"nothing to report. It printed:\n{short(printed)}"
            )
    return Observation(
        verdict=best.verdict,
        text=best.text or best.detail,
        device=best.device,
        torch=report.build["torch"],
        versions=_collect_env(python, report.build),
        printed=short(printed),
    )


def run_program(text: str, python: str, seconds: float, startup: float | None = None) -> str:
    """The program's output, followed by the signal or time limit that ended the program."""
    limit = seconds + (runner.startup() if startup is None else startup)
    with (
        processes.leaving_by_exception(),
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
    ):
        folder = Path(name).resolve()
        (folder / NAME).write_text(text, encoding="utf-8")
        with open(folder / "printed", "w+b") as output:
            with processes.started(
                [python, "-X", "utf8", NAME],
                cwd=folder,
                env={**os.environ, "PYTHONUNBUFFERED": "1", "TMPDIR": str(folder)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            ) as process:
                status: int | None = None
                with contextlib.suppress(subprocess.TimeoutExpired):
                    status = process.wait(limit)
            output.seek(0)
            printed = output.read(runner.LINE).decode(errors="replace")
    printed = printed.replace(f"{folder}{os.sep}", "")
    if status is None:
        printed += f"still running after {limit:g} s; killed\n"
    elif status < 0:
        printed += program.ending(printed, status)
    return _INSTALLED.sub(r"\1", printed).replace(str(Path.home()), "~")


def short(text: str) -> str:
    """Shortens the output for a report. A long traceback loses its frames but not its errors."""
    text = printable(text.replace("\r", ""))
    if text.count("\n") > LINES:
        text = _FRAME.sub("", text)
    lines = text.splitlines()
    lines = [line for line in lines if not line.startswith("Extension modules: ")]  # faulthandler
    lines = [line if len(line) <= COLUMNS else f"{line[:COLUMNS]} [...]" for line in lines]
    if len(lines) > LINES:
        left_out = f"[... {len(lines) - LINES} lines ...]"
        lines = [*lines[: LINES // 2], left_out, *lines[-(LINES // 2) :]]
    return "".join(f"{line}\n" for line in lines)


def _collect_env(python: str, build: dict[str, Any]) -> str:
    """The output of collect_env in the tested interpreter, except the CPU vulnerabilities."""
    command = [python, "-m", "torch.utils.collect_env"]
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=120
        )
    except subprocess.TimeoutExpired:
        return versions_of(build)
    if result.returncode:
        return versions_of(build)
    lines = result.stdout.strip().splitlines()
    return "\n".join(
        line for line in lines if not re.match(r"(Vulnerability|Flags|Collecting)\b", line.strip())
    )
