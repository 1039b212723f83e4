"""What readers tried against each advice, and docs/advice.md, which lists it.

readings.jsonl has a line per reproducer: {"id", "grade", "readers": how many tried it who had not written it,
"tried": [what was run against it, and what came out], "reports": what became of the threads that it cites}.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from matrix import catalog
from tests.trials.advice import pasting
from tests.trials.shared import DOCS, table

READINGS = Path(__file__).with_name("readings.jsonl")
PAGE = DOCS / "advice.md"
KEYS = {"id", "grade", "readers", "tried", "reports"}


def load(path: Path = READINGS) -> dict[str, dict[str, Any]]:
    """Id -> its reading. Raises ValueError for a line that is none."""
    readings = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        reading = json.loads(line)
        if set(reading) != KEYS or not isinstance(reading["tried"], list):
            raise ValueError(f"{path}:{number}: expected {', '.join(sorted(KEYS))}")
        readings[reading["id"]] = reading
    return readings


def page() -> str:
    """docs/advice.md."""
    readings, old = load(), pasting.harmful()
    places = {place.id: place for place in pasting.places()}
    reproducers = catalog.load()
    live = [one for one in reproducers if one.is_current]
    rows = []
    for one in live:
        place = places.get(one.id)
        reading = readings[one.id]
        rows.append(
            (
                f"`{one.id}`",
                reading["grade"],
                reading["readers"],
                ", ".join(place.settings) if place else pasting.NO_PLACE.get(one.id, ""),
                sum(id == one.id for id, _ in old) or "",
                "; ".join(reading["tried"]).replace("|", "\\|"),
                reading["reports"].replace("|", "\\|"),
            )
        )
    retired = [(f"`{one.id}`", one.retired) for one in reproducers if not one.is_current]
    header = (
        "reproducer",
        "grade",
        "readers",
        "settings",
        "old advice",
        "tried against it",
        "reports",
    )
    return f"""\
# Advice

Written by `python -m tests.trials.advice`, which pastes the lines that are printed under *wrong*, *right* and *with the
fix* into small trainers, and compares what they do with references that need no advice. The lines under *right* also run,
word for word, in a role of their reproducer on every release; `torch-repros lint` sees to that.

*grade*: A where all that it says was run and nothing that was tried against it came out; B where it claims more or less;
C where it is false or does harm; A* is an A of a device that no run had. *readers*: how many tried to break it who had
not written it. *settings*: the trainers that the lines are pasted into. *old advice*: lines that were once printed and
did harm; they have to fail in the same place. *tried against it*: what a reader ran to prove it wrong, and what came out.
*reports*: which of the threads that it cites were read.

{table(header, rows)}

## Retired

{table(("reproducer", "why"), retired)}
"""
