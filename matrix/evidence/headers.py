"""Compares headers with records, and rewrites `affected` where they differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..catalog import Reproducer, promised
from ..torches import satisfies
from ..verdicts import BY_NAME
from .states import States


@dataclass(frozen=True)
class Difference:
    """One device of one header that is not what was measured."""

    reproducer: Reproducer
    device: str
    measured: str  # the specifier that states the records, or "" where no header can
    why: str  # the measurements that differ


def differences(reproducers: Sequence[Reproducer], states: States) -> list[Difference]:
    """Every header that its fresh measurements contradict, in either direction."""
    found = []
    for reproducer in reproducers:
        for device, stated in reproducer.affected.items():
            known = states.verdicts(reproducer, device)
            wrong = {
                minor: state for minor, state in known.items() if state != promised(stated, minor)
            }
            unstatable = {minor: state for minor, state in wrong.items() if not _conclusive(state)}
            if unstatable:
                why = "; ".join(f"torch {minor}: {state}" for minor, state in unstatable.items())
                found.append(Difference(reproducer, device, "", why))
            elif wrong:
                why = ", ".join(f"torch {minor} {state}" for minor, state in wrong.items())
                measured = specifier(known, stated)
                found.append(
                    Difference(reproducer, device, measured, f"{stated!r} but measured {why}")
                )
    return found


def _conclusive(state: str) -> bool:
    return state in BY_NAME and BY_NAME[state].conclusive


def specifier(known: dict[str, str], stated: str = "") -> str:
    """The shortest specifier that is true of just the measured releases that reproduce, or "never".

    No lower bound where the oldest that was tried is affected and a newer one is not: "<2.11" may
    hold for older ones too.

    >>> specifier({"2.9": "reproduced", "2.10": "reproduced", "2.11": "absent"})
    '<2.11'
    >>> specifier({"1.13": "absent", "2.0": "reproduced", "2.6": "reproduced", "2.7": "absent"})
    '>=2.0,<2.7'
    >>> specifier({"2.3": "reproduced", "2.4": "absent", "2.5": "reproduced"})
    '>=2.3,!=2.4.*'
    """
    minors = list(known)
    affected = [minor for minor in minors if known[minor] == "reproduced"]
    if not affected:
        return "never"
    first, last = minors.index(affected[0]), minors.index(affected[-1])
    parts = []
    if first > 0 or last == len(minors) - 1:
        # where all that were tried are affected, keep the header's own statement of "since"
        old = re.match(r">=[\d.]+", stated)
        keep = old is not None and first == 0 and satisfies(affected[0], old[0])
        parts.append(old[0] if old and keep else f">={affected[0]}")
    parts += [f"!={minor}.*" for minor in minors[first : last + 1] if known[minor] != "reproduced"]
    if last < len(minors) - 1:
        parts.append(f"<{minors[last + 1]}")
    return ",".join(parts)


def rewrite(source: str, device: str, measured: str) -> str:
    """A reproducer's source with the new specifier in its header.

    Raises ValueError where it cannot be put there.
    """
    pattern = rf'^(# affected = .*\b{device} = )"[^"]*"'
    changed, count = re.subn(pattern, rf'\g<1>"{measured}"', source, count=1, flags=re.M)
    if count != 1:
        raise ValueError("expected affected = { ... } on one line of the header")
    return changed
