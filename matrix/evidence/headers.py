"""Compares headers with records, and rewrites `affected` where they differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..catalog import Reproducer
from ..torches import satisfies
from . import records


@dataclass(frozen=True)
class Difference:
    """One device of one header that is not what was measured."""

    entry: Reproducer
    device: str
    measured: str  # the specifier that states the records, or "" where they cannot be stated
    why: str  # the records that disagree


def differences(entries: Sequence[Reproducer], cells: list[records.Record]) -> list[Difference]:
    """Every header that its fresh records contradict, in either direction."""
    found = []
    for entry in entries:
        for device, stated in entry.affected.items():
            known = verdicts(entry, device, cells)
            bad = {minor: verdict for minor, verdict in known.items() if verdict not in ("reproduced", "absent", _promised(stated, minor))}
            wrong = {minor: verdict for minor, verdict in known.items() if verdict != _promised(stated, minor)}
            if bad:
                found.append(Difference(entry, device, "", "; ".join(f"torch {minor}: {verdict}" for minor, verdict in bad.items())))
            elif wrong:
                why = ", ".join(f"torch {minor} {verdict}" for minor, verdict in wrong.items())
                found.append(Difference(entry, device, specifier(known, stated), f"{stated!r} but measured {why}"))
    return found


def verdicts(entry: Reproducer, device: str, cells: list[records.Record]) -> dict[str, str]:
    """Minor version -> verdict, oldest first, without the cells that could not be run. Cells that disagree are "mixed"."""
    known: dict[str, str] = {}
    for cell, found in records.fresh(cells, entry, device):
        if found.verdict != "unavailable":
            known[cell.minor] = found.verdict if known.get(cell.minor, found.verdict) == found.verdict else "mixed"
    return known


def _promised(stated: str, minor: str) -> str:
    return "reproduced" if stated != "never" and satisfies(minor, stated) else "absent"


def specifier(known: dict[str, str], stated: str = "") -> str:
    """The shortest specifier that is true of exactly the measured versions that reproduce, or "never".

    No lower bound where the oldest that was tried is affected and a newer one is not: "<2.11" may hold for older ones too.

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
        parts.append(old[0] if old and first == 0 and satisfies(affected[0], old[0]) else f">={affected[0]}")
    parts += [f"!={minor}.*" for minor in minors[first : last + 1] if known[minor] != "reproduced"]
    if last < len(minors) - 1:
        parts.append(f"<{minors[last + 1]}")
    return ",".join(parts)


def rewrite(difference: Difference) -> str:
    """The reproducer's source with the new specifier in its header."""
    source = difference.entry.source
    pattern = rf'^(# affected = .*\b{difference.device} = )"[^"]*"'
    changed, count = re.subn(pattern, rf'\g<1>"{difference.measured}"', source, count=1, flags=re.M)
    if count != 1:
        raise ValueError(f"{difference.entry.path}: expected affected = {{ ... }} on one line of the header")
    return changed
