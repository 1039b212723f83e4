"""The attempts of readers to break each advice, and docs/advice.md, which lists them.

readings.jsonl has a line per reproducer: {"id", "grade", "readers": the number of readers, without
the author, "tried": [the attempts to break the advice, with results], "reports": the cited threads
that were read}.
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
    """Maps each id to its reading. Raises ValueError for a line with other keys."""
    readings = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        reading = json.loads(line)
        if set(reading) != KEYS or not isinstance(reading["tried"], list):
            raise ValueError(f"{path}:{number}: expected {', '.join(sorted(KEYS))}")
        readings[reading["id"]] = reading
    return readings


def page() -> str:
    """The text of docs/advice.md."""
    readings, old = load(), pasting.harmful()
    places = {place.id: place for place in pasting.places()}
    reproducers = catalog.load()
    live = [reproducer for reproducer in reproducers if reproducer.is_current]
    rows = []
    for reproducer in live:
        place = places.get(reproducer.id)
        reading = readings[reproducer.id]
        rows.append(
            (
                f"`{reproducer.id}`",
                reading["grade"],
                reading["readers"],
                ", ".join(place.settings) if place else pasting.NO_PLACE.get(reproducer.id, ""),
                sum(id == reproducer.id for id, _ in old) or "",
                "; ".join(reading["tried"]).replace("|", "\\|"),
                reading["reports"].replace("|", "\\|"),
            )
        )
    retired = [
        (f"`{reproducer.id}`", reproducer.retired)
        for reproducer in reproducers
        if not reproducer.is_current
    ]
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

`python -m tests.trials.advice` writes this page. The command pastes the lines printed under *wrong*, *right* and
*with the fix* into small trainers, and compares the results with references that need no advice. The lines under *right* also run, word
for word, in a role of their reproducer on every release; `torch-repros lint` enforces this.

- *grade*: A if everything that the advice says was run and no attempt to break the advice succeeded; B if the advice
  claims too much or too little; C if it is false or does harm; A* is an A for a failure on a
  device that was not available for a run.
- *readers*: the number of readers, other than the author, who tried to break the advice.
- *settings*: the trainers that the lines are pasted into.
- *old advice*: the number of earlier printed versions that did harm; they must fail in the same place.
- *tried against it*: the attempts of the readers to break the advice, and the results, with releases of torch in
  parentheses. After a result, *said* means that the advice states the result.
- *reports*: which of the cited threads were read.

{table(header, rows)}

## Retired

{table(("reproducer", "why"), retired)}
"""
