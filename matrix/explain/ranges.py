"""Summarizes which releases have a failure: "2.3 and later", "fixed in 2.11"."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from .. import torches
from ..evidence.states import BY_NAME, Standing
from .text import NOT_MEASURED

# (state, text, tone) for failures that were never reproduced. The first state that occurs is used.
_NEVER = (("absent", "not affected", "good"), ("unavailable", "unavailable", "quiet"))


class Part(NamedTuple):
    text: str
    tone: str  # one of verdicts.TONES
    change: bool = False  # True if the failure appeared or disappeared in that release


@dataclass(frozen=True)
class Range:
    """The line for a device. The parts for the newest releases come first."""

    device: str
    measured: tuple[Part, ...]
    expected: tuple[Part, ...]  # the header's expectation, for releases without measurements
    date: str  # the date of the newest measurement, or ""
    stand_in: str = ""

    def __str__(self) -> str:
        kinds = ((self.measured, "measured"), (self.expected, NOT_MEASURED))
        return "; ".join(
            f"{', '.join(part.text for part in parts)} ({how})" for parts, how in kinds if parts
        )


def load(
    device: str, standings: dict[str, Standing], releases: list[torches.Torch], stand_in: str = ""
) -> Range:
    """The range of a reproducer. `standings` contains every release, oldest first."""
    states = list(standings.values())
    return Range(
        device,
        tuple(parts([standing.state if standing.date else "" for standing in states], releases)),
        tuple(parts(["" if standing.date else standing.expected for standing in states], releases)),
        max((standing.date for standing in states), default=""),
        stand_in,
    )


def parts(states: list[str], releases: list[torches.Torch]) -> list[Part]:
    """The parts for one state per release, oldest first. Releases whose state is "" are omitted."""
    oldest_first: list[Part] = []
    first = 0
    for state, run in groupby(states):
        end = first + len(list(run))  # the first release after the run
        before, after = states[first - 1] if first else "", states[end] if states[end:] else ""
        minors = [torch.minor for torch in releases[first:end]]
        between = torches.span(minors, releases)
        if state == "reproduced" and end == len(states):
            if before == "absent":
                oldest_first.append(Part(f"came in {minors[0]}", "bad", change=True))
            else:
                later = " and later" if before or len(minors) > 1 else ""
                oldest_first.append(Part(f"{minors[0]}{later}", "bad"))
        elif state == "reproduced":
            oldest_first.append(Part(between, "quiet" if after else "bad"))
            if after == "absent":
                oldest_first.append(Part(f"fixed in {releases[end].minor}", "good", change=True))
            elif after == "unavailable" and "reproduced" not in states[end:]:
                oldest_first.append(Part(f"gone in {releases[end].minor}", "quiet", change=True))
        elif state not in ("", "absent", "unavailable"):
            oldest_first.append(Part(f"{state} on {between}", BY_NAME[state].tone))
        first = end
    if not oldest_first:
        oldest_first = [Part(text, tone) for state, text, tone in _NEVER if state in states][:1]
    return oldest_first[::-1]
