"""Derives the state of a cell from the records: a verdict, or the reason why there is none.

A state is never taken from a header. A Standing has both the state and the header's expectation.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from packaging.version import Version

from .. import verdicts
from ..catalog import Reproducer, promised
from ..torches import Torch, satisfies
from .schema import Measurement, Record

# The verdicts, and the states for conflicting, outdated and missing measurements.
ROWS = (
    *verdicts.ROWS,
    verdicts.Verdict("mixed", "M", "two machines disagree", "unsteady", True, False),
    verdicts.Verdict(
        "stale", "s", "measured, but the reproducer has changed since", "quiet", False, False
    ),
    verdicts.Verdict("unknown", "?", "not measured yet", "quiet", False, False),
    verdicts.Verdict(
        "not applicable", " ", "the reproducer does not apply to this device", "quiet", False, False
    ),
)
BY_NAME = {row.name: row for row in ROWS}


EXPECTED = {"reproduced": "affected", "absent": "not affected", "unavailable": "unavailable"}


class Standing(NamedTuple):  # one per cell; a dataclass takes twice as long
    """The measured and the expected state of a reproducer on a device and release."""

    state: str  # one of BY_NAME
    date: str  # the date of the newest measurement that counts, or ""
    expected: str  # the header's expectation, one of EXPECTED

    def __str__(self) -> str:
        if self.date:
            return f"{self.state} (measured {self.date})"
        return f"{EXPECTED[self.expected]} (expected, not measured)"


@cache  # many headers have the same values
def _expected(requires: str, affected: str, minors: tuple[str, ...]) -> list[str]:
    """One of EXPECTED per release."""
    return [
        "unavailable" if requires and not satisfies(minor, requires) else promised(affected, minor)
        for minor in minors
    ]


class States:
    """The states of all cells, which map (reproducer, device, release) to a state."""

    def __init__(self, measured: list[Record]) -> None:
        # the releases that have measurements
        self.minors = sorted({record.minor for record in measured}, key=Version)
        self._found: dict[tuple[str, str, str], list[Measurement]] = {}
        for record in measured:
            for id, measurement in record.measurements.items():
                self._found.setdefault((id, record.device, record.minor), []).append(measurement)

    def state(self, reproducer: Reproducer, device: str, minor: str) -> str:
        """The state, which is one of BY_NAME."""
        if device not in reproducer.affected:
            return "not applicable"
        return self._state(reproducer, device, minor)[0]

    def _state(self, reproducer: Reproducer, device: str, minor: str) -> tuple[str, str]:
        """The state, and the date of the newest measurement that counts."""
        measurements = self._found.get((reproducer.id, device, minor))
        if not measurements:
            return "unknown", ""
        fresh = [
            measurement for measurement in measurements if not measurement.is_stale(reproducer)
        ]
        if not fresh:
            return "stale", ""
        verdicts = {measurement.verdict for measurement in fresh}
        state = fresh[0].verdict if len(verdicts) == 1 else "mixed"
        return state, max(measurement.date for measurement in fresh)

    def standing(self, reproducer: Reproducer, device: str, minor: str) -> Standing:
        """The standing on a device to which the reproducer applies."""
        return self.standings(reproducer, device, [minor])[minor]

    def standings(
        self, reproducer: Reproducer, device: str, minors: list[str]
    ) -> dict[str, Standing]:
        """Maps each release to the standing on a device to which the reproducer applies."""
        expected = _expected(reproducer.needs(device), reproducer.affected[device], tuple(minors))
        return {
            minor: Standing(*self._state(reproducer, device, minor), verdict)
            for minor, verdict in zip(minors, expected)
        }

    def raised(self, reproducer: Reproducer, pattern: str) -> list[str]:
        """The releases on which a run raised a text that matches the pattern, oldest first."""
        return [
            minor
            for minor in self.minors
            if any(
                measurement.raised(pattern)
                for device in reproducer.devices
                for measurement in self._found.get((reproducer.id, device, minor), ())
                if not measurement.is_stale(reproducer)
            )
        ]

    def verdicts(self, reproducer: Reproducer, device: str) -> dict[str, str]:
        """Maps each release on which the reproducer ran to its state, oldest first."""
        states = {minor: self.state(reproducer, device, minor) for minor in self.minors}
        return {minor: state for minor, state in states.items() if BY_NAME[state].ran}

    def releases(
        self, reproducer: Reproducer, device: str, releases: list[Torch]
    ) -> dict[str, list[str]]:
        """Maps each state to the releases with this state, oldest first."""
        by_state: dict[str, list[str]] = {}
        for torch in releases:
            by_state.setdefault(self.state(reproducer, device, torch.minor), []).append(torch.minor)
        return by_state
