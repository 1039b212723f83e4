"""Exports the site's data for other programs: all verdicts, a file per failure, and the schema.
`format` changes if a key is removed or its meaning changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .. import checked
from ..catalog import KINDS, ORIGINS, Reproducer
from ..devices import DEVICES
from ..evidence.states import BY_NAME, EXPECTED, Standing
from ..explain import compare, ranges, wording
from ..explain.text import Measured

FORMAT = 1
Verdicts = dict[str, dict[str, dict[str, str]]]


def verdicts(reproducer: Reproducer, measured: Measured) -> Verdicts:
    """Maps device -> release -> the verdict, its date, and the header's expectation."""
    return {
        device: {
            minor: {"verdict": standing.state, "expected": standing.expected, "date": standing.date}
            for minor, standing in measured.states.standings(
                reproducer, device, measured.minors
            ).items()
        }
        for device in reproducer.devices
    }


def grid(reproducers: list[Reproducer], measured: Measured) -> dict[str, Any]:
    """A flat list of all cells of the current reproducers."""
    return {
        "format": FORMAT,
        "releases": measured.minors,
        "verdicts": [
            {"id": reproducer.id, "device": device, "release": minor, **cell}
            for reproducer in reproducers
            if reproducer.is_current
            for device, row in verdicts(reproducer, measured).items()
            for minor, cell in row.items()
        ],
    }


def failure(
    reproducer: Reproducer, measured: Measured, of_devices: list[ranges.Range]
) -> dict[str, Any]:
    """The complete data of a failure: its header, its texts, and its measurements."""
    return {
        "format": FORMAT,
        "id": reproducer.id,
        **reproducer.header,
        "why": reproducer.doc,
        "readable": [wording.readable(pattern) for pattern in reproducer.texts],
        "ranges": {item.device: str(item) for item in of_devices},
        "verdicts": verdicts(reproducer, measured),
    }


def schema() -> dict[str, Any]:
    """The JSON Schema for grid() and failure()."""
    text: dict[str, Any] = {"type": "string"}
    texts = {"type": "array", "items": text}
    release = {"type": "string", "pattern": r"^\d+\.\d+$"}
    cell = {
        "verdict": {
            "enum": list(BY_NAME),
            "description": "what the records say; never taken from a header",
        },
        "expected": {"enum": list(EXPECTED), "description": "what the header promises"},
        "date": {
            "type": "string",
            "pattern": r"^(\d{4}-\d\d-\d\d)?$",
            "description": "of the newest measurement that counts; empty if there is none",
        },
    }
    place = {"id": {"type": "string", "pattern": "^[a-z0-9_]+/[a-z0-9_]+$"}}
    device = {"enum": list(DEVICES)}
    version = {"const": FORMAT}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "grid.json, or bugs/FAMILY/NAME.json",
        "oneOf": [{"$ref": "#/definitions/grid"}, {"$ref": "#/definitions/failure"}],
        "definitions": {
            "grid": _object(
                {
                    "format": version,
                    "releases": {"type": "array", "items": release},
                    "verdicts": {
                        "type": "array",
                        "items": _object({**place, "device": device, "release": release, **cell}),
                    },
                }
            ),
            "failure": _object(
                {
                    "format": version,
                    **place,
                    **checked.json_schema(Reproducer),
                    "kind": {"enum": list(KINDS)},
                    "origin": {"enum": list(ORIGINS), "description": str(ORIGINS)},
                    "why": text,
                    "readable": {**texts, "description": "the messages, as people read them"},
                    "ranges": {"type": "object", "propertyNames": device},
                    "verdicts": {
                        "type": "object",
                        "propertyNames": device,
                        "additionalProperties": {
                            "type": "object",
                            "propertyNames": release,
                            "additionalProperties": _object(cell),
                        },
                    },
                }
            ),
        },
    }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """The schema for an object with exactly these keys."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@dataclass(frozen=True)
class Change:
    """The failures that a release introduced or fixed, according to the measurements."""

    before: str
    torch: str
    date: str  # the date of the newest of these measurements
    changes: dict[str, list[tuple[Reproducer, list[str]]]]  # name -> (reproducer, devices) pairs

    @property
    def summary(self) -> str:
        return ", ".join(
            f"{len(reproducers)} {_DID[name]}" for name, reproducers in self.changes.items()
        )


_DID = {"breaks": "broke", "appears": "came", "fixed": "fixed", "disappears": "gone"}


def changes(reproducers: list[Reproducer], measured: Measured) -> list[Change]:
    """The changes in each release with any changes, newest first."""
    result = []
    rows = [
        (reproducer, device, measured.states.standings(reproducer, device, measured.minors))
        for reproducer in reproducers
        for device in reproducer.devices
    ]
    for before, torch in pairwise(measured.minors):
        changed: dict[str, dict[Reproducer, list[str]]] = {}
        dates = []
        for reproducer, device, row in rows:
            name = compare.BY_STATES.get((row[before].state, row[torch].state))
            if name and not _is_a_gap(row, before, torch):
                changed.setdefault(name, {}).setdefault(reproducer, []).append(device)
                dates.append(row[torch].date)
        if changed:
            ordered = {
                name: list(changed[name].items()) for name in compare.CHANGES if name in changed
            }
            result.append(Change(before, torch, max(dates), ordered))
    return result[::-1]


def _is_a_gap(row: dict[str, Standing], before: str, torch: str) -> bool:
    """True if the failure exists before and after a release on which it cannot be run."""
    minors = list(row)
    sides = (minors[: minors.index(torch)], minors[minors.index(torch) :])
    return "unavailable" in (row[before].state, row[torch].state) and all(
        any(row[minor].state == "reproduced" for minor in side) for side in sides
    )
