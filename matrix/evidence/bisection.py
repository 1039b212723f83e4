"""Finds two releases of torch between which a verdict changed, using binary search."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from .. import torches
from ..torches import Torch
from ..verdicts import BY_NAME

STARTS = {"reproduced": "first bad", "absent": "first good"}


class Undecided(Exception):
    """No release was reproduced or absent."""


class Stopped(Exception):
    """No more releases can be measured."""


@dataclass(frozen=True)
class Boundary:
    """Two measured releases with different verdicts. All releases in between are inconclusive."""

    before: Torch
    since: Torch
    between: tuple[Torch, ...] = ()


@dataclass(frozen=True)
class History:
    """The known verdicts of a reproducer on each release, oldest first."""

    releases: list[Torch]
    # minor -> verdict, for releases with a known verdict
    verdicts: dict[str, str] = field(default_factory=dict)

    def verdict(self, number: int) -> str:
        return self.verdicts.get(self.releases[number].minor, "")

    @property
    def decided(self) -> list[int]:
        """The indices of the releases whose verdict is reproduced or absent."""
        rows = (BY_NAME.get(self.verdict(number)) for number in range(len(self.releases)))
        return [number for number, row in enumerate(rows) if row is not None and row.conclusive]

    @property
    def unmeasured(self) -> list[int]:
        return [
            number for number, torch in enumerate(self.releases) if torch.minor not in self.verdicts
        ]

    @property
    def changes(self) -> list[tuple[int, int]]:
        """The pairs of adjacent decided releases whose verdicts differ."""
        return [
            (low, high)
            for low, high in pairwise(self.decided)
            if self.verdict(low) != self.verdict(high)
        ]

    @property
    def boundaries(self) -> list[Boundary]:
        """The changes with no unmeasured releases in between, oldest first."""
        return [
            Boundary(self.releases[low], self.releases[high], tuple(self.releases[low + 1 : high]))
            for low, high in self.changes
            if not any(low < number < high for number in self.unmeasured)
        ]

    def next_to_measure(self) -> Torch | None:
        """The release to measure next: the newest, the oldest, then the middle of a change.

        Returns None if every necessary release has been measured. If a release is inconclusive, its
        nearest neighbor is next. If both ends agree, one release in the middle is measured, because
        it may differ from both.
        """
        decided, unmeasured = self.decided, self.unmeasured
        if newer := [number for number in unmeasured if not decided or number > decided[-1]]:
            return self.releases[newer[-1]]
        if older := [number for number in unmeasured if number < decided[0]]:
            return self.releases[older[0]]
        if not self.changes and len(decided) != 2:
            return None
        low, high = self.changes[-1] if self.changes else decided
        inside = [number for number in unmeasured if low < number < high]
        middle = min(inside, key=lambda number: abs(2 * number - low - high), default=None)
        return None if middle is None else self.releases[middle]

    @property
    def sentence(self) -> str:
        """Describes the changes without claiming more than the measurements show."""
        boundaries = self.boundaries
        parts = [self._describe(boundary) for boundary in boundaries]
        if not self.changes:
            parts.append(self._agreement())
        closed = {(boundary.before, boundary.since) for boundary in boundaries}
        for low, high in self.changes:
            before, since = self.releases[low], self.releases[high]
            if (before, since) not in closed:
                sides = [
                    f"{torch.minor} ({self.verdicts[torch.minor]})" for torch in (before, since)
                ]
                which = "another" if parts else "a"
                parts.append(f"{which} change is between {' and '.join(sides)}")
        described = {torch for boundary in boundaries for torch in boundary.between}
        decided = [self.releases[number] for number in self.decided]
        others = [
            torch
            for torch in self.releases
            if torch.minor in self.verdicts and torch not in described
        ]
        if undecided := [torch for torch in others if torch not in decided]:
            parts.append(self._states(undecided, ", "))
        return "; ".join(parts)

    def _describe(self, boundary: Boundary) -> str:
        """ "first good torch: 2.9 or 2.8 (2.8 is flaky, 2.7 is reproduced)" """
        newest_first = boundary.between[::-1]
        names = " or ".join(torch.minor for torch in (boundary.since, *newest_first))
        start = STARTS[self.verdicts[boundary.since.minor]]
        return f"{start} torch: {names} ({self._states([*newest_first, boundary.before], ', ')})"

    def _states(self, releases: list[Torch], separator: str) -> str:
        return separator.join(
            f"{torch.minor} is {self.verdicts[torch.minor]}" for torch in releases
        )

    def _agreement(self) -> str:
        """Describes a history without any changes."""
        minors = [self.releases[number].minor for number in self.decided]
        named = torches.span(minors, self.releases)
        unseen = [
            number for number in self.unmeasured if self.decided[0] < number < self.decided[-1]
        ]
        if unseen:
            named = f"{', '.join(minors)}; releases between were not measured"
        return f"{self.verdicts[minors[0]]} in {named}"


def bisect(
    releases: list[Torch], measure: Callable[[Torch], str], known: Mapping[str, str] | None = None
) -> History:
    """Measures until two neighbors differ, or until both ends agree with a release between them.

    The binary search finds a change, which is not necessarily the latest or the only change. All
    verdicts in `known` (minor -> verdict) are used. If all n releases are reproduced or absent, at
    most ceil(log2(n - 1)) + 2 releases are measured. If `measure` raises Stopped, the history
    contains the verdicts that are known by then. Raises Undecided if no release is reproduced or
    absent.
    """
    minors = [torch.minor for torch in releases]
    history = History(
        releases, {minor: verdict for minor, verdict in (known or {}).items() if minor in minors}
    )
    with contextlib.suppress(Stopped):
        while (torch := history.next_to_measure()) is not None:
            history.verdicts[torch.minor] = measure(torch)
    if not history.decided:
        verdicts = ", ".join(
            f"torch {torch.version} is {history.verdicts.get(torch.minor, 'not measured')}"
            for torch in releases
        )
        raise Undecided(f"cannot bisect: {verdicts}; none is reproduced or absent")
    return history
