"""From a traceback, a warning or log lines to the reproducers that fit. The patterns are the `messages` of the headers.

What is matched, and how it is ranked, is done a second time in the page's script (templates/page.js); tests/matrix/test_page.py
holds both to the same answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .. import causes
from ..catalog import Reproducer

ESCAPES = r"\x1b\[[0-9;]*m"  # a terminal's colours
FOLDS = r"[\s│]+"  # line ends, and the sides of a box around a traceback
# "PyTorch version: 2.4.1+cu121", "torch==2.4.1", "torch 2.4", "pytorch 2.4.1"
TORCH_VERSION = r"(?:[Pp]y[Tt]orch version|[Pp]y[Tt]orch|torch(?:\.__version__)?)[\s:='\"(>v]{1,6}(\d+\.\d+(?:\.\d+)?)"


@dataclass
class Answer:
    """What one message in the text means: one reproducer, or several causes to tell apart."""

    matched: str  # the part of the text
    entries: list[Reproducer]
    causes: list[dict[str, str]]  # cause, check, see; empty when there is only one
    title: str  # of the list of causes, else of the reproducer

    @property
    def ids(self) -> list[str]:
        return [cause["see"] for cause in self.causes if "see" in cause] if self.causes else [entry.id for entry in self.entries]


def find(text: str, entries: list[Reproducer]) -> list[Answer]:
    """Answers, best first: errors before warnings, then the longest matched text, and of equals the one nearest to the end, where
    a traceback says what it is.

    Messages that a terminal or a box around a traceback has broken into lines are found too. A text of one line is also compared
    with what reproducers print, for what raises nothing.
    """
    text = re.sub(ESCAPES, "", text)
    matches = _matches(text, {entry.id: entry.messages for entry in entries})
    if not matches:
        matches = _matches(re.sub(FOLDS, " ", text), {entry.id: entry.messages for entry in entries})
    if not matches and "\n" not in text.strip():
        # The symptom of an error is a part of its message and may be part of many others: it counts as a whole only.
        symptoms = {entry.id: (f"^(?:{entry.symptom})$" if entry.kind == "error" else entry.symptom,) for entry in entries}
        matches = _matches(text.strip(), symptoms)
        matches = {id: match for id, match in matches.items() if match[1] == min(start for _, start, _ in matches.values())}
    answers = []
    ranked = sorted(matches, key=lambda id: (matches[id][0], -len(matches[id][2]), -matches[id][1], id))
    by_id = {entry.id: entry for entry in entries}
    seen: set[str] = set()
    for id in ranked:
        if id in seen:
            continue
        group = next((group for group in causes.load() if any(cause.get("see") == id for cause in group["causes"])), None)
        if group:
            ids = [cause["see"] for cause in group["causes"] if "see" in cause]
            answers.append(Answer(matches[id][2], [by_id[see] for see in ids if see in by_id], group["causes"], group["title"]))
            seen.update(ids)
        else:
            answers.append(Answer(matches[id][2], [by_id[id]], [], by_id[id].title))
            seen.add(id)
    return answers


def _matches(text: str, patterns: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[bool, int, str]]:
    """id -> whether its best match stands in a warning, where, and the matched text."""
    found = {}
    for id, mine in patterns.items():
        candidates = []
        for match in (match for pattern in mine for match in re.finditer(pattern, text, re.IGNORECASE)):
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.end()]
            candidates.append(("Warning" in line, match.start(), match.group()))
        if candidates:
            found[id] = min(candidates, key=lambda c: (c[0], -len(c[2]), -c[1]))
    return found


def torch_version(text: str) -> str | None:
    """The first torch version that the text names."""
    found = re.search(TORCH_VERSION, text)
    return found.group(1) if found else None
