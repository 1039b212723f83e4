"""Finds the torch release at which a verdict became what it is in the newest one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..torches import Torch


class Undecided(Exception):
    """A release gave neither "reproduced" nor "absent"."""


@dataclass(frozen=True)
class Found:
    verdict: str  # of the newest release
    since: Torch  # the oldest release of the run that ends with the newest one and has its verdict
    before: Torch | None  # the release just before, measured to differ; None when `since` is the oldest of all
    known: dict[str, str]  # minor -> verdict of everything measured, oldest first

    @property
    def sentence(self) -> str:
        state = {"reproduced": "first bad", "absent": "first good"}[self.verdict]
        if self.before is None:
            return f"{self.verdict} in every torch tried: {state} <= {self.since.minor}"
        other = [
            minor for minor, verdict in list(self.known.items())[: list(self.known).index(self.before.minor)] if verdict == self.verdict
        ]
        also = f"; not monotone: {self.verdict} in {', '.join(other)} too" if other else ""
        oldest = next(iter(self.known))
        unseen = "" if self.known[oldest] != "?" else f"; {oldest} was not measured"
        return f"{state} torch: {self.since.minor} ({self.before.minor} is {self.known[self.before.minor]}){also}{unseen}"


def bisect(torches: list[Torch], measure: Callable[[Torch], str]) -> Found:
    """Measures at most ceil(log2(n)) + 1 of n releases, oldest first in `torches`.

    Looks for the latest change. Where a measurement is left over it goes to the oldest release, so that a bug that exists in
    the middle alone is noticed. Raises Undecided when a release is neither reproduced nor absent.
    """
    known: dict[int, str] = {}

    def verdict(number: int) -> str:
        if number not in known:
            known[number] = measure(torches[number])
        if known[number] not in ("reproduced", "absent"):
            raise Undecided(f"torch {torches[number].version}: {known[number]}")
        return known[number]

    low, high = -1, len(torches) - 1  # low: the newest known to differ; high: the oldest known not to
    last = verdict(high)
    while high - low > 1:
        middle = (low + high) // 2
        if verdict(middle) == last:
            high = middle
        else:
            low = middle
    if len(known) <= math.ceil(math.log2(len(torches))):
        verdict(0)
    known.setdefault(0, "?")
    return Found(
        last, torches[high], torches[low] if low >= 0 else None, {torches[number].minor: known[number] for number in sorted(known)}
    )
