"""Defines the verdicts, and judges the outcomes of a reproducer's roles."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Any, TypedDict

from .catalog import Reproducer
from .printing import printable

JUDGING = 5.0  # time limit in seconds for matching the symptom
TEXT = 20_000  # maximum number of characters of a text or a detail

# The ways in which a verdict is displayed. The site has a CSS class for each tone.
TONES = ("bad", "good", "quiet", "wrong", "unsteady")


@dataclass(frozen=True)
class Verdict:
    """A row in the table of verdicts. No field has a default, so a verdict must set all of them."""

    name: str
    sign: str  # the letter in the grid, which is readable without color
    meaning: str
    tone: str  # one of TONES
    ran: bool  # True if any code was run
    conclusive: bool  # True if the verdict says whether the bug is present


ROWS = (
    Verdict(
        name="reproduced",
        sign="R",
        meaning="the bug occurs with the stated symptom, and the control passes",
        tone="bad",
        ran=True,
        conclusive=True,
    ),
    Verdict(
        name="absent",
        sign="·",
        meaning="the bug does not occur, and the control passes",
        tone="good",
        ran=True,
        conclusive=True,
    ),
    Verdict(
        name="unavailable",
        sign="x",
        meaning="cannot run on this release or device: the API or the platform does not exist",
        tone="quiet",
        ran=False,
        conclusive=False,
    ),
    Verdict(
        name="broken",
        sign="B",
        meaning="a different error, a failing control, or an unrelated crash or time-out",
        tone="wrong",
        ran=True,
        conclusive=False,
    ),
    Verdict(
        name="flaky",
        sign="F",
        meaning="repeated runs disagree",
        tone="unsteady",
        ran=True,
        conclusive=False,
    ),
)

BY_NAME = {row.name: row for row in ROWS}
VERDICTS = tuple(BY_NAME)


ENDINGS = {  # the ending of a run -> the verb before its detail
    "returned": "",
    "not text": "",
    "left": "",  # the run changed state that is shared with other runs
    "raised": "raised ",
    "exit": "",
    "timeout": "is ",
    "signal": "was ",
    "no report": "",
    "died": "",  # the worker ended during the run
}


class Outcome(TypedDict):
    """The outcome of one run of one role."""

    outcome: str  # one of ENDINGS
    value: str | None  # the role's return value
    detail: str  # how the run ended, if the role did not return
    seconds: float  # the duration of the role alone
    wall: float  # the duration of the whole run, measured by the parent process
    peak_mib: float


def checked(message: dict[str, Any]) -> Outcome:
    """Validates the outcome in a worker's message, which a reproducer may have altered."""
    outcome, value = message.get("outcome"), message.get("value")
    detail = message.get("detail") or ""
    if not isinstance(outcome, str) or outcome not in ENDINGS:
        outcome, detail = "no report", "left a report that cannot be read"
    elif outcome == "returned" and not isinstance(value, (str, type(None))):
        outcome, detail = "not text", f"returned {value!r}; expected text or None"
    wall = _number(message.get("wall"))
    return {
        "outcome": outcome,
        "value": _text(value) if outcome == "returned" and value is not None else None,
        "detail": _text(str(detail)),
        "seconds": min(_number(message.get("seconds")), wall),
        "wall": wall,
        "peak_mib": _number(message.get("peak_mib")),
    }


def _text(text: str) -> str:
    """The text, shortened and escaped for writing to any file."""
    if len(text) > TEXT + 100:  # leaves room for the note that a worker appends
        text = f"{text[:TEXT]}... [{len(text)} characters in all]"
    return printable(text)


def _number(value: object) -> float:
    if isinstance(value, (int, float)) and 0 <= value < 1e300:  # not NaN, and fits into a float
        return float(value)
    return 0.0


@dataclass
class Result:
    """The result of one reproducer on one device with one torch."""

    id: str
    device: str
    verdict: str  # one of VERDICTS
    expected: str  # reproduced | absent
    detail: str = ""  # the reason for an inconclusive verdict
    text: str = ""  # the symptom that reproduce() showed
    # the symptom that popular_fix() leaves, "" if there is none, or None if it was not run
    popular_fix: str | None = None
    said: str = ""  # the return value of messages(), which contains other texts of this failure
    runs: int = 0
    agreeing: int = 0  # runs with this verdict
    seconds: float = 0.0  # the median duration of reproduce() alone
    overhead: float = 0.0  # the median time that the harness adds to a run
    peak_mib: float = 0.0
    stand_in: str = ""

    @property
    def surprise(self) -> str:
        """The difference from the header, in either direction, or "" if there is none."""
        if not BY_NAME[self.verdict].ran:
            return ""
        if self.verdict != self.expected:
            return f"{self.verdict}, but its header says {self.expected}" + (
                f": {self.detail}" if self.detail else ""
            )
        if self.verdict == "reproduced" and self.popular_fix == "":
            return "popular_fix helps here, but the header says that it does not"
        return self.detail


def judge(reproducer: Reproducer, result: Result, roles: dict[str, list[Outcome]]) -> None:
    """Fills in the result from the outcomes of the roles."""
    pairs = itertools.zip_longest(roles["reproduce"], roles["control"], roles["right"])
    verdicts = [verdict(reproducer, *outcomes) for outcomes in pairs]
    names = [name for name, _, _ in verdicts]
    commonest = max(names, key=names.count)
    result.runs, result.agreeing = len(names), names.count(commonest)
    result.verdict = commonest if result.agreeing == result.runs else "flaky"
    _, result.text, result.detail = verdicts[names.index(commonest)]
    if result.verdict == "flaky":
        rest = {
            f"{name} ({detail})" if detail else name
            for name, _, detail in verdicts
            if name != commonest
        }
        result.detail = (
            f"{commonest} {result.agreeing} of {result.runs}, else {'; '.join(sorted(rest))}"
        )
    if roles["popular_fix"] and result.verdict == "reproduced":
        result.popular_fix, result.detail = _judge_popular_fix(roles["popular_fix"])
    for outcome in roles["messages"]:
        if outcome["outcome"] != "returned":
            result.detail = result.detail or _describe("messages", outcome)
        result.said = result.said or outcome["value"] or ""
    own = sorted(outcome["seconds"] for outcome in roles["reproduce"])
    added = sorted(
        outcome["wall"] - outcome["seconds"] for outcomes in roles.values() for outcome in outcomes
    )
    result.seconds, result.overhead = own[len(own) // 2], added[len(added) // 2]
    result.peak_mib = max(outcome["peak_mib"] for outcome in roles["reproduce"])


def verdict(
    reproducer: Reproducer, reproduce: Outcome, control: Outcome, right: Outcome | None = None
) -> tuple[str, str, str]:
    """Returns (verdict, text seen, detail) for a run of reproduce(), control() and right()."""
    text = reproduce["value"]
    if (reproducer.kind, reproduce["outcome"]) in (("crash", "signal"), ("hang", "timeout")):
        text = reproduce["detail"]  # the expected crash or hang is the symptom
    elif reproduce["outcome"] != "returned":
        return "broken", "", _describe("reproduce", reproduce)
    if control["outcome"] != "returned":
        return "broken", text or "", _describe("control", control)
    if control["value"] is not None:
        return "broken", text or "", f"control() also fails: {control['value']}"
    if right is not None and right["outcome"] != "returned":
        return "broken", text or "", _describe("right", right)
    if right is not None and right["value"] is not None:
        return "broken", text or "", f"right() does not fix it: {right['value']}"
    if text is None:
        return "absent", "", ""
    if mismatch := _mismatch(reproducer.symptom, text):
        return "broken", text, mismatch
    return "reproduced", text, ""


def _matches(symptom: str, text: str) -> bool:
    """True if the text contains the symptom. Raises TimeoutError, or re.error for a bad pattern."""
    try:
        import regex  # like re, but with a time limit, because some matches never end
    except ImportError:  # not available where only pure Python can be installed
        return re.search(symptom, text) is not None
    try:
        return regex.search(symptom, text, timeout=JUDGING) is not None
    except regex.error as error:
        raise re.error(str(error)) from None


def _mismatch(symptom: str, text: str) -> str:
    """The reason why the text is not the symptom, or ""."""
    try:
        if _matches(symptom, text):
            return ""
    except TimeoutError:
        return f"matching the symptom took longer than {JUDGING:g} s: {symptom!r}"
    except re.error as error:
        return f"the symptom {symptom!r} cannot be matched: {error}"
    return f"output does not match the symptom regex {symptom!r}: {text}"


def _judge_popular_fix(outcomes: list[Outcome]) -> tuple[str | None, str]:
    """Returns (the remaining symptom, the problem with the runs)."""
    for outcome in outcomes:
        if outcome["outcome"] != "returned":
            return None, _describe("popular_fix", outcome)
        if outcome["value"] is None:
            return "", ""
    return outcomes[0]["value"], ""


def _describe(role: str, outcome: Outcome) -> str:
    if outcome["outcome"] == "died":
        return f"the worker died while {role}() ran"
    return f"{role}() {ENDINGS[outcome['outcome']]}{outcome['detail']}"
