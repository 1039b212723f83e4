"""On which releases a failure is there, in few words: "2.3 and later", "fixed in 2.11"."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from .. import torches
from ..evidence.states import BY_NAME, Standing
from .text import NOT_MEASURED

# What is said where it was never reproduced, the first that was seen.
_NEVER = (("absent", "not affected", "good"), ("unavailable", "unavailable", "quiet"))


class Part(NamedTuple):
    text: str
    tone: str  # of verdicts.TONES
    change: bool = False  # by that release it came or went


@dataclass(frozen=True)
class Range:
    """The line of one device. What holds on the newest releases comes first."""

    device: str
    measured: tuple[Part, ...]
    expected: tuple[Part, ...]  # by the header, of releases on which nobody has measured it
    date: str  # of the newest measurement, "" where there is none
    stand_in: str = ""

    def __str__(self) -> str:
        said = ((self.measured, "measured"), (self.expected, NOT_MEASURED))
        return "; ".join(
            f"{', '.join(part.text for part in parts)} ({how})" for parts, how in said if parts
        )


def load(
    device: str, standings: dict[str, Standing], releases: list[torches.Torch], stand_in: str = ""
) -> Range:
    """Of one reproducer; `standings` has every release, oldest first."""
    states = list(standings.values())
    return Range(
        device,
        tuple(parts([one.state if one.date else "" for one in states], releases)),
        tuple(parts(["" if one.date else one.expected for one in states], releases)),
        max((one.date for one in states), default=""),
        stand_in,
    )


def parts(states: list[str], releases: list[torches.Torch]) -> list[Part]:
    """Of a state per release, "" where nothing is said of it."""
    found: list[Part] = []
    first = 0
    for state, run in groupby(states):
        end = first + len(list(run))  # the first release after the run
        before, after = states[first - 1] if first else "", states[end] if states[end:] else ""
        minors = [torch.minor for torch in releases[first:end]]
        between = torches.span(minors, releases)
        if state == "reproduced" and end == len(states):
            if before == "absent":
                found.append(Part(f"came in {minors[0]}", "bad", change=True))
            else:
                later = " and later" if before or len(minors) > 1 else ""
                found.append(Part(f"{minors[0]}{later}", "bad"))
        elif state == "reproduced":
            found.append(Part(between, "quiet" if after else "bad"))
            if after == "absent":
                found.append(Part(f"fixed in {releases[end].minor}", "good", change=True))
            elif after == "unavailable" and "reproduced" not in states[end:]:
                found.append(Part(f"gone in {releases[end].minor}", "quiet", change=True))
        elif state not in ("", "absent", "unavailable"):
            found.append(Part(f"{state} on {between}", BY_NAME[state].tone))
        first = end
    if not found:
        found = [Part(text, tone) for state, text, tone in _NEVER if state in states][:1]
    return found[::-1]
