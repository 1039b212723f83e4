"""The verdicts, and how the outcomes of a reproducer's roles become one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypedDict

from .catalog import Reproducer

TONES = {  # how loudly a verdict is shown: the style of the terminal; the site has a class of the same name
    "bad": "yellow",
    "good": "green",
    "quiet": "dim",
    "wrong": "bold red",
    "unsteady": "bold magenta",
}


@dataclass(frozen=True)
class Verdict:
    """A row of the table of verdicts. No field has a default: a new verdict states them all."""

    name: str
    sign: str  # in the grid; a letter, so that every verdict is readable in black and white
    meaning: str
    tone: str  # one of TONES
    ran: bool  # whether anything was run at all
    conclusive: bool  # whether it says that the bug is there, or that it is not


ROWS = (
    Verdict("reproduced", "R", "the bug occurs with the stated symptom, and the control passes", "bad", True, True),
    Verdict("absent", "·", "the bug does not occur, and the control passes", "good", True, True),
    Verdict("unavailable", "x", "cannot be run there: the API or the platform does not exist", "quiet", False, False),
    Verdict("broken", "B", "a different error, a failing control, or an unrelated crash or time-out", "wrong", True, False),
    Verdict("flaky", "F", "repeated runs disagree", "unsteady", True, False),
)

BY_NAME = {row.name: row for row in ROWS}
VERDICTS = tuple(BY_NAME)


class Outcome(TypedDict, total=False):
    """What one run of one role did, as the worker reports it."""

    job: int  # the number of the job it answers
    outcome: str  # returned | raised | exit | timeout | signal | no report | not text
    value: str | None  # what the role returned
    detail: str  # how it ended, in words, where it did not return
    seconds: float  # the role alone
    wall: float  # the whole run, as its parent saw it
    peak_mib: float | None


@dataclass
class Result:
    """One reproducer on one device of one torch."""

    id: str
    device: str
    verdict: str  # one of VERDICTS
    expected: str  # reproduced | absent
    detail: str = ""  # why, for every verdict that is not conclusive
    text: str = ""  # what reproduce() saw
    popular_fix: str | None = None  # the symptom that it leaves, "" when it leaves none, None when it was not run
    runs: int = 0
    agreeing: int = 0  # runs that gave this verdict
    seconds: float = 0.0  # median of reproduce() alone
    overhead: float = 0.0  # median of what the harness adds to one run
    peak_mib: float = 0.0
    stand_in: str = ""

    @property
    def surprise(self) -> str:
        """What differs from the header, in either direction, or ""."""
        if not BY_NAME[self.verdict].ran:
            return ""
        if self.verdict != self.expected:
            return f"{self.verdict}, but its header says {self.expected}" + (f": {self.detail}" if self.detail else "")
        if self.verdict == "reproduced" and self.popular_fix == "":
            return "popular_fix works here, but it is listed as one that does not"
        return f"popular_fix: {self.detail}" if self.detail else ""


def judge(reproducer: Reproducer, result: Result, roles: dict[str, list[Outcome]]) -> None:
    """Fills in what the runs of its roles amount to."""
    verdicts = [verdict(reproducer, *pair) for pair in zip(roles["reproduce"], roles["control"])]
    names = [name for name, _, _ in verdicts]
    commonest = max(names, key=names.count)
    result.runs, result.agreeing = len(names), names.count(commonest)
    result.verdict = commonest if result.agreeing == result.runs else "flaky"
    _, result.text, result.detail = verdicts[names.index(commonest)]
    if result.verdict == "flaky":
        rest = {f"{name} ({detail})" if detail else name for name, _, detail in verdicts if name != commonest}
        result.detail = f"{commonest} {result.agreeing} of {result.runs}, else {'; '.join(sorted(rest))}"
    if roles["popular_fix"] and result.verdict == "reproduced":
        result.popular_fix, result.detail = _judge_popular_fix(roles["popular_fix"])
    own = sorted(outcome["seconds"] for outcome in roles["reproduce"])
    added = sorted(outcome["wall"] - outcome["seconds"] for outcomes in roles.values() for outcome in outcomes)
    result.seconds, result.overhead = own[len(own) // 2], added[len(added) // 2]
    result.peak_mib = max(outcome["peak_mib"] or 0.0 for outcome in roles["reproduce"])


def verdict(reproducer: Reproducer, reproduce: Outcome, control: Outcome) -> tuple[str, str, str]:
    """(verdict, text seen, detail) of one run of reproduce() and one of control()."""
    text = reproduce.get("value")
    if (reproducer.kind, reproduce["outcome"]) in (("crash", "signal"), ("hang", "timeout")):
        text = reproduce["detail"]  # the death that it claims is its symptom
    elif reproduce["outcome"] != "returned":
        return "broken", "", f"reproduce() {_describe(reproduce)}"
    if control["outcome"] != "returned":
        return "broken", text or "", f"control() {_describe(control)}"
    if control["value"] is not None:
        return "broken", text or "", f"control() also fails: {control['value']}"
    if text is None:
        return "absent", "", ""
    if not re.search(reproducer.symptom, text):
        return "broken", text, f"output does not match the symptom regex {reproducer.symptom!r}: {text}"
    return "reproduced", text, ""


def _judge_popular_fix(outcomes: list[Outcome]) -> tuple[str | None, str]:
    """(the symptom left by the runs, what is wrong with them)."""
    for outcome in outcomes:
        if outcome["outcome"] != "returned":
            return None, _describe(outcome)
        if outcome["value"] is None:
            return "", ""
    return outcomes[0]["value"], ""


def _describe(outcome: Outcome) -> str:
    verb = {"raised": "raised ", "timeout": "is ", "signal": "was "}.get(outcome["outcome"], "")
    return f"{verb}{outcome['detail']}"
