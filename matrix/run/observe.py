"""One run of one reproducer, for a report."""

from __future__ import annotations

import re
import subprocess
from typing import Any

from ..catalog import Reproducer
from ..devices import unusable
from ..evidence.observation import NothingObserved, Observation, versions_of
from . import runner


def measured_here(reproducer: Reproducer, python: str, device: str | None) -> Observation:
    """Runs it once in this interpreter's torch. Raises runner.RunnerError or NothingObserved."""
    wanted = (device,) if device else reproducer.devices
    with runner.Worker(python, wanted) as worker:
        usable = [name for name in wanted if worker.devices[name]["ok"]]
        if not usable:
            why = "; ".join(unusable(name, worker.devices[name]["reason"]) for name in wanted)
            raise NothingObserved(
                f"{reproducer.id} concerns {', '.join(reproducer.affected)}: {why}"
            )
        report = runner.run([reproducer], worker, tuple(usable))
    ran = [result for result in report.results if result.runs]
    # the device on which it shows, where there is one
    best = min(ran, key=lambda result: result.verdict != "reproduced", default=None)
    if best is None:
        raise NothingObserved(f"{reproducer.id} cannot be run here: {report.results[0].detail}")
    return Observation(
        verdict=best.verdict,
        text=best.text or best.detail,
        device=best.device,
        torch=report.build["torch"],
        origin=f"Measured on this machine, on {best.device}.",
        versions=_collect_env(python, report.build),
    )


def _collect_env(python: str, build: dict[str, Any]) -> str:
    """What collect_env prints in the tested interpreter, without the flaws of its CPU."""
    command = [python, "-m", "torch.utils.collect_env"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=120
        )
    except subprocess.TimeoutExpired:
        return versions_of(build)
    if done.returncode:
        return versions_of(build)
    lines = done.stdout.strip().splitlines()
    return "\n".join(
        line for line in lines if not re.match(r"(Vulnerability|Flags|Collecting)\b", line.strip())
    )
