"""What an upgrade of torch changes: the cells of two releases compared, from records alone."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..catalog import Reproducer
from ..evidence.bisection import History
from ..evidence.records import fresh
from ..evidence.schema import Record
from ..evidence.states import States
from ..torches import Torch

# What a change is called -> the heading of its list. In the order of an answer.
CHANGES = {
    "breaks": "Breaks with the change",
    "appears": "Comes with what only the second has",
    "fixed": "Fixed by the change",
    "disappears": "Goes with what only the first has",
    "message": "Fails as before, with another message",
}
SHOWN = 400  # characters of a message; those of the dispatcher have 13,000
BREAKING = ("breaks", "appears")
BY_STATES = {
    ("absent", "reproduced"): "breaks",
    ("unavailable", "reproduced"): "appears",
    ("reproduced", "absent"): "fixed",
    ("reproduced", "unavailable"): "disappears",
}


@dataclass(frozen=True)
class Change:
    """One reproducer on one device, different on the two releases."""

    reproducer: Reproducer
    device: str
    change: str  # one of CHANGES
    since: str  # where it changed, as records know it: "first good torch: 2.11 (2.10 is ...)"
    before: str = ""  # the texts, of a message
    after: str = ""


@dataclass(frozen=True)
class Comparison:
    changes: list[Change]  # in the order of CHANGES
    same: list[tuple[Reproducer, str]]  # with the device: reproduced on both
    unknown: list[tuple[Reproducer, str]]  # not measured on both, or flaky, broken or mixed there


def compare(
    reproducers: list[Reproducer],
    records: list[Record],
    releases: list[Torch],
    old: Torch,
    new: Torch,
    devices: list[str],
) -> Comparison:
    """Two of the releases, which are all there are, oldest first; `new` may be the older one.

    Releases between the two tell where a change came.
    """
    states = States(records)
    first, last = sorted((releases.index(old), releases.index(new)))
    changes: list[Change] = []
    same, unknown = [], []
    for reproducer in reproducers:
        for device in (device for device in devices if device in reproducer.devices):
            before, after = (states.state(reproducer, device, one.minor) for one in (old, new))
            if change := BY_STATES.get((before, after)):
                history = History(releases[first : last + 1], states.verdicts(reproducer, device))
                changes.append(Change(reproducer, device, change, history.sentence))
            elif before == after == "reproduced":
                texts = [_text(records, reproducer, device, one.minor) for one in (old, new)]
                if reproducer.kind == "error" and _plain(texts[0]) != _plain(texts[1]):
                    changes.append(Change(reproducer, device, "message", "", *texts))
                else:
                    same.append((reproducer, device))
            elif not {before, after} <= {"absent", "unavailable"}:
                unknown.append((reproducer, device))
    order = list(CHANGES)
    return Comparison(sorted(changes, key=lambda one: order.index(one.change)), same, unknown)


def _text(records: list[Record], reproducer: Reproducer, device: str, minor: str) -> str:
    """What it returned on a release, on the newest build of it."""
    found = fresh(records, reproducer, device)
    return [one.text for record, one in found if record.minor == minor][-1]


def _plain(text: str) -> str:
    """Without what differs from run to run: addresses and numbers."""
    return re.sub(r"0x[0-9a-fA-F]+|\d+", "#", text)


def text(comparison: Comparison, every: bool) -> str:
    """The answer for a terminal. `every`: what stays and what is unknown is named too."""
    found = []
    for change, heading in CHANGES.items():
        # devices that changed alike share a line
        alike: dict[tuple[Reproducer, str, str, str], list[str]] = {}
        for one in comparison.changes:
            if one.change == change:
                key = (one.reproducer, one.since, one.before, one.after)
                alike.setdefault(key, []).append(one.device)
        found.append(f"{heading}: {len(alike) or 'nothing'}")
        for (reproducer, since, before, after), devices in alike.items():
            found += [f"  {reproducer.id} ({', '.join(devices)})", f"      {reproducer.title}"]
            if change == "message":
                for when, message in (("before: ", before), ("after:  ", after)):
                    found.append(f"      {when}{_shown(message)}")
            elif change == "fixed" and reproducer.fixed_by:
                found.append(f"      {since}, {reproducer.fixed_by}")
            else:
                found.append(f"      {since}")
        found.append("")
    for heading, rest in (
        ("Fails on both", comparison.same),
        ("Not known, as it was not measured on both", comparison.unknown),
    ):
        ids: dict[str, list[str]] = {}
        for reproducer, device in rest:
            ids.setdefault(reproducer.id, []).append(device)
        found.append(f"{heading}: {len(ids) or 'nothing'}")
        if every:
            found += [f"  {id} ({', '.join(devices)})" for id, devices in ids.items()]
    return "\n".join(found)


def _shown(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]} ... (`--json` has all of it)"


def as_json(comparison: Comparison) -> dict[str, list[dict[str, str]]]:
    """The same for scripts."""
    return {
        "changes": [
            {"id": one.reproducer.id, "title": one.reproducer.title, "device": one.device}
            | {key: getattr(one, key) for key in ("change", "since", "before", "after")}
            | {"fixed_by": one.reproducer.fixed_by}
            for one in comparison.changes
        ],
        **{
            name: [{"id": reproducer.id, "device": device} for reproducer, device in pairs]
            for name, pairs in (("same", comparison.same), ("unknown", comparison.unknown))
        },
    }
