"""What the records say of a cell: a verdict, or why there is none.

A state is never taken from what a header promises. A Standing has both, each under its own name.
"""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import Version

from .. import verdicts
from ..catalog import Reproducer
from ..torches import Torch, satisfies
from . import records

# Of a cell that was measured on several machines, or on none. Same columns as the verdicts.
ROWS = (
    *verdicts.ROWS,
    verdicts.Verdict("mixed", "M", "two machines disagree", "unsteady", True, False),
    verdicts.Verdict(
        "stale", "s", "measured, but the reproducer has changed since", "quiet", False, False
    ),
    verdicts.Verdict("unknown", "?", "nobody has measured it", "quiet", False, False),
    verdicts.Verdict(
        "not applicable", " ", "the reproducer does not concern this device", "quiet", False, False
    ),
)
BY_NAME = {row.name: row for row in ROWS}


EXPECTED = {"reproduced": "affected", "absent": "not affected", "unavailable": "unavailable"}


@dataclass(frozen=True)
class Standing:
    """What is known of a reproducer on a device and release."""

    state: str  # one of BY_NAME
    date: str  # of the newest measurement that counts, "" where there is none
    expected: str  # by the header: one of EXPECTED

    def __str__(self) -> str:
        if self.date:
            return f"{self.state} (measured {self.date})"
        return f"{EXPECTED[self.expected]} (expected, not measured)"


class States:
    """The states of every cell, each looked up once: (reproducer, device, release) -> state."""

    def __init__(self, measured: list[records.Record]) -> None:
        # what was measured at all
        self.minors = sorted({record.minor for record in measured}, key=Version)
        self._found: dict[tuple[str, str, str], list[records.Measurement]] = {}
        for record in measured:
            for id, measurement in record.measurements.items():
                self._found.setdefault((id, record.device, record.minor), []).append(measurement)

    def state(self, reproducer: Reproducer, device: str, minor: str) -> str:
        """One of BY_NAME."""
        if device not in reproducer.affected:
            return "not applicable"
        found = self._found.get((reproducer.id, device, minor), [])
        fresh = {
            measurement.verdict for measurement in found if not measurement.is_stale(reproducer)
        }
        if fresh:
            return fresh.pop() if len(fresh) == 1 else "mixed"
        return "stale" if found else "unknown"

    def standing(self, reproducer: Reproducer, device: str, minor: str) -> Standing:
        """Of a device that the reproducer concerns."""
        dates = [
            one.date
            for one in self._found.get((reproducer.id, device, minor), [])
            if not one.is_stale(reproducer)
        ]
        if reproducer.requires and not satisfies(minor, reproducer.requires):
            expected = "unavailable"
        else:
            expected = reproducer.expects(device, minor)
        return Standing(self.state(reproducer, device, minor), max(dates, default=""), expected)

    def verdicts(self, reproducer: Reproducer, device: str) -> dict[str, str]:
        """Release -> state, oldest first, of those where it was run."""
        found = {minor: self.state(reproducer, device, minor) for minor in self.minors}
        return {minor: state for minor, state in found.items() if BY_NAME[state].ran}

    def releases(
        self, reproducer: Reproducer, device: str, releases: list[Torch]
    ) -> dict[str, list[str]]:
        """State -> the releases that are in it, oldest first."""
        found: dict[str, list[str]] = {}
        for torch in releases:
            found.setdefault(self.state(reproducer, device, torch.minor), []).append(torch.minor)
        return found
