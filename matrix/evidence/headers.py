"""Compares headers with records, and rewrites `affected` if they differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from packaging.version import Version

from .. import toml
from ..catalog import Reproducer, promised
from ..torches import satisfies
from ..verdicts import BY_NAME
from .states import States


@dataclass(frozen=True)
class Difference:
    """A device on which the header and the measurements differ."""

    reproducer: Reproducer
    device: str
    measured: str  # the specifier that matches the records, or "" if there is none
    why: str  # the conflicting measurements


def differences(reproducers: Sequence[Reproducer], states: States) -> list[Difference]:
    """All contradictions between headers and fresh measurements, in either direction."""
    result = []
    for reproducer in reproducers:
        for device, stated in reproducer.affected.items():
            states_by_minor = states.verdicts(reproducer, device)
            wrong = {
                minor: state
                for minor, state in states_by_minor.items()
                if state != promised(stated, minor)
            }
            unstatable = {minor: state for minor, state in wrong.items() if not _conclusive(state)}
            if unstatable:
                why = "; ".join(f"torch {minor}: {state}" for minor, state in unstatable.items())
                result.append(Difference(reproducer, device, "", why))
            elif wrong:
                why = ", ".join(f"torch {minor} {state}" for minor, state in wrong.items())
                measured = specifier(states_by_minor, stated)
                result.append(
                    Difference(reproducer, device, measured, f"{stated!r} but measured {why}")
                )
    return result


def _conclusive(state: str) -> bool:
    return state in BY_NAME and BY_NAME[state].conclusive


def specifier(known: dict[str, str], stated: str = "") -> str:
    """The shortest specifier that matches exactly the affected releases among those measured.

    Returns "never" if no release is affected. The specifier has no lower bound if the oldest
    measured release is affected and the newest is not, because "<2.11" may also apply to older
    releases.

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
    at_end = last == len(minors) - 1
    # keep the header's lower bound if it covers unmeasured releases and is not contradicted
    old = re.search(r">=\s*([\d.]+)", stated)
    keep = old is not None and first == 0 and satisfies(affected[0], old[0])
    if old and keep and (at_end or Version(old[1]) < Version(affected[0])):
        parts.append(f">={old[1]}")
    elif first > 0 or at_end:
        parts.append(f">={affected[0]}")
    parts += [f"!={minor}.*" for minor in minors[first : last + 1] if known[minor] != "reproduced"]
    if not at_end:
        parts.append(f"<{minors[last + 1]}")
    return ",".join(parts)


def rewrite(source: str, device: str, measured: str) -> str:
    """Returns a reproducer's source with the new specifier in its header.

    Raises ValueError if the specifier cannot be inserted.
    """
    key = rf"(?<=[{{,\s])([\"']?){device}\1"
    pattern = rf"^# *affected *= *{{[^}}\n]*?{key} *= *([\"'])(?P<old>.*?)\2.*"
    match = re.search(pattern, source, flags=re.M)
    if match is None:
        raise ValueError("expected affected = { ... } on one line of the header")
    start, end = match.span("old")
    changed = source[:start] + measured + source[end:]
    line = changed[match.start() : match.end() + len(measured) - (end - start)]
    if _affected(line) != {**_affected(match[0]), device: measured}:
        raise ValueError(f"cannot write {device} = {measured!r} to the header")
    return changed


def _affected(line: str) -> dict[str, str]:
    table: dict[str, str] = toml.loads(line.removeprefix("#").strip())["affected"]
    return table
