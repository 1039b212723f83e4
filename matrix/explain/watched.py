"""Watches the processes of a program: what they need, and what they have found.

The watch itself is the package `matrix.watching`, which runs inside the program. Its module
findings.py is the only one that needs no torch.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..catalog import PACKAGE, Reproducer
from ..watching import findings
from ..watching.findings import Finding
from . import text

STARTUP = PACKAGE / "watching" / "startup"


class Watched:
    """A folder in which the processes of a program keep their findings, while it exists.

    how: "some" to look at a sample of the steps, "all" to look at every step.
    """

    def __init__(self, how: str) -> None:
        self.how = how
        self.failed: dict[str, str] = {}  # the checks that failed, and their errors
        self._folder = tempfile.TemporaryDirectory(
            prefix="torch-repros-", ignore_cleanup_errors=True
        )

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()

    def environment(self) -> dict[str, str]:
        """The variables that start the watch in each Python process of the program."""
        path = [str(STARTUP), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path),
            "TORCH_REPROS_WATCH": self._folder.name,
            "TORCH_REPROS_WATCH_ALL": str(int(self.how == "all")),
        }

    def findings(self) -> list[Finding]:
        """The findings of all processes so far, the worst first."""
        found, self.failed = findings.merged(Path(self._folder.name))
        return found


def as_json(found: Iterable[Finding], reproducers: Iterable[Reproducer]) -> list[dict[str, Any]]:
    """The findings as JSON, each with the name of its fix, or null."""
    fixes = {reproducer.id: reproducer.fix or None for reproducer in reproducers}
    return [{**asdict(finding), "fix": fixes.get(finding.id)} for finding in found]


def shown(finding: Finding, reproducer: Reproducer | None) -> list[str]:
    """A finding as it is shown below the program's output."""
    times = "" if finding.count == 1 else f", seen {finding.count} times"
    lines = [f"{finding.text()}{times}", f"  {finding.change}"]
    if reproducer and reproducer.fix:
        lines.append(f"  fix: {text.fix(reproducer)}")
    return [*lines, f"  torch-repros show {finding.id}", ""]
