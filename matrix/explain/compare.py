"""Compares two releases of torch, using only records, to show the effects of an upgrade."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..catalog import Reproducer
from ..evidence.bisection import History
from ..evidence.records import fresh
from ..evidence.schema import Record
from ..evidence.states import States
from ..torches import Torch

# Maps each kind of change to the heading of its list, in the order of the answer.
CHANGES = {
    "breaks": "Breaks with the change",
    "appears": "Fails in a feature that only the second release has",
    "fixed": "Fixed by the change",
    "disappears": "Failed in a feature that only the first release has",
    "message": "Fails as before, with another message",
}
SHOWN = 400  # maximum characters of a message; messages from the dispatcher can have 13,000
BREAKING = ("breaks", "appears")
BY_STATES = {
    ("absent", "reproduced"): "breaks",
    ("unavailable", "reproduced"): "appears",
    ("reproduced", "absent"): "fixed",
    ("reproduced", "unavailable"): "disappears",
}


@dataclass(frozen=True)
class Change:
    """A reproducer and a device whose results differ on the two releases."""

    reproducer: Reproducer
    device: str
    change: str  # one of CHANGES
    since: str  # where the records show the change: "first good torch: 2.11 (2.10 is ...)"
    before: str = ""  # the two texts, if the message changed
    after: str = ""


@dataclass(frozen=True)
class Comparison:
    changes: list[Change]  # in the order of CHANGES
    same: list[tuple[Reproducer, str]]  # (reproducer, device) pairs that are reproduced on both
    unknown: list[tuple[Reproducer, str]]  # pairs not measured on both, or flaky, broken or mixed


def compare(
    reproducers: list[Reproducer],
    records: list[Record],
    releases: list[Torch],
    old: Torch,
    new: Torch,
    devices: list[str],
) -> Comparison:
    """Compares two releases. `new` may be older than `old`.

    `releases` lists every release, oldest first, because the releases between the two show when a
    result changed.
    """
    states = States(records)
    first, last = sorted((releases.index(old), releases.index(new)))
    changes: list[Change] = []
    same, unknown = [], []
    for reproducer in reproducers:
        for device in (device for device in devices if device in reproducer.devices):
            before, after = (states.state(reproducer, device, torch.minor) for torch in (old, new))
            if change := BY_STATES.get((before, after)):
                history = History(releases[first : last + 1], states.verdicts(reproducer, device))
                changes.append(Change(reproducer, device, change, history.sentence))
            elif before == after == "reproduced":
                texts = [_text(records, reproducer, device, torch.minor) for torch in (old, new)]
                if reproducer.kind == "error" and _plain(texts[0]) != _plain(texts[1]):
                    changes.append(Change(reproducer, device, "message", "", *texts))
                else:
                    same.append((reproducer, device))
            elif not {before, after} <= {"absent", "unavailable"}:
                unknown.append((reproducer, device))
    order = list(CHANGES)
    return Comparison(sorted(changes, key=lambda change: order.index(change.change)), same, unknown)


def _text(records: list[Record], reproducer: Reproducer, device: str, minor: str) -> str:
    """The text that the reproducer returned on the newest build of the release."""
    pairs = fresh(records, reproducer, device)
    return [measurement.text for record, measurement in pairs if record.minor == minor][-1]


def _plain(text: str) -> str:
    """The text without addresses and numbers, which differ from run to run."""
    return re.sub(r"0x[0-9a-fA-F]+|\d+", "#", text)


def text(comparison: Comparison, every: bool) -> str:
    """The answer for a terminal. With `every`, also lists unchanged and unknown results."""
    lines = []
    for change, heading in CHANGES.items():
        # devices with the same change share a line
        alike: dict[tuple[Reproducer, str, str, str], list[str]] = {}
        for cell in comparison.changes:
            if cell.change == change:
                key = (cell.reproducer, cell.since, cell.before, cell.after)
                alike.setdefault(key, []).append(cell.device)
        lines.append(f"{heading}: {len(alike) or 'nothing'}")
        for (reproducer, since, before, after), devices in alike.items():
            lines += [f"  {reproducer.id} ({', '.join(devices)})", f"      {reproducer.title}"]
            if change == "message":
                for when, message in (("before: ", before), ("after:  ", after)):
                    lines.append(f"      {when}{_shown(message)}")
            elif change == "fixed" and reproducer.fixed_by:
                lines.append(f"      {since}, {reproducer.fixed_by}")
            else:
                lines.append(f"      {since}")
        lines.append("")
    for heading, rest in (
        ("Fails on both", comparison.same),
        ("Unknown, because not measured on both releases", comparison.unknown),
    ):
        ids: dict[str, list[str]] = {}
        for reproducer, device in rest:
            ids.setdefault(reproducer.id, []).append(device)
        lines.append(f"{heading}: {len(ids) or 'nothing'}")
        if every:
            lines += [f"  {id} ({', '.join(devices)})" for id, devices in ids.items()]
    return "\n".join(lines)


def _shown(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]} ... (`--json` has all of it)"


def as_json(comparison: Comparison) -> dict[str, list[dict[str, str]]]:
    """The answer for scripts."""
    return {
        "changes": [
            {"id": change.reproducer.id, "title": change.reproducer.title, "device": change.device}
            | {key: getattr(change, key) for key in ("change", "since", "before", "after")}
            | {"fixed_by": change.reproducer.fixed_by}
            for change in comparison.changes
        ],
        **{
            name: [{"id": reproducer.id, "device": device} for reproducer, device in pairs]
            for name, pairs in (("same", comparison.same), ("unknown", comparison.unknown))
        },
    }
