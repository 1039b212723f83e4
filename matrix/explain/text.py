"""Formats a reproducer for the terminal, as a summary or in full."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from packaging.version import Version

from .. import torches
from ..catalog import ORIGINS, Reproducer
from ..evidence.schema import Record
from ..evidence.states import EXPECTED, Standing, States
from .explain import Answer, Explanation
from .search import Found
from .wrapping import Code, Prose, wrap

NOT_MEASURED = "expected, not measured"
SHOWN_CAUSES = 3  # maximum number of causes with their checks and lines
CAUSES_LINES = 20  # of a list of causes, below its title, the matched text and the numbers
SHORT = 4  # maximum lines of code per cause in a list of causes
LINES = 18  # maximum lines in a brief answer, below the title, the matched text and the user's line


@dataclass(eq=False)
class Measured:
    """The measurements, which are read once for all reproducers in an answer."""

    releases: list[torches.Torch]
    states: States

    @cached_property
    def minors(self) -> list[str]:
        return [torch.minor for torch in self.releases]

    @classmethod
    def load(cls, records: list[Record]) -> Measured:
        return cls(torches.load(), States(records))

    def short(self, reproducer: Reproducer) -> str:
        """The affected releases per device, with the date of the newest measurement."""

        def how(standings: dict[str, Standing]) -> str:
            date = _newest(standings)
            return f"measured {date}" if date else "not measured"

        return self._affects(reproducer, how)

    def sentence(self, reproducer: Reproducer, version: str | None) -> str:
        """States whether the user's torch is affected, as measured or as expected by the header."""
        if version is None:
            return self._affects(reproducer, lambda each: self._measured(each) or NOT_MEASURED)
        minor = torches.minor(version)
        oldest, newest = self.releases[0].minor, self.releases[-1].minor
        if Version(minor) < Version(oldest):
            return f"torch {version} is older than all measured releases ({oldest} to {newest})"
        standings = [
            f"{device} {self.states.standing(reproducer, device, minor)}"
            for device in reproducer.devices
        ]
        return f"on torch {minor}: {', '.join(standings)}"

    def is_absent(self, reproducer: Reproducer, version: str | None) -> bool:
        """True if no device has the failure on this torch, as measured or as the header expects."""
        if version is None or (minor := torches.minor(version)) not in self.minors:
            return False
        standings = [
            self.states.standing(reproducer, device, minor) for device in reproducer.devices
        ]
        states = {each.state if each.date else each.expected for each in standings}
        return states <= {"absent", "unavailable"}

    def _affects(self, reproducer: Reproducer, how: Callable[[dict[str, Standing]], str]) -> str:
        """Per affected device, the releases stated in the header, and how this is known."""
        parts = [
            f"{specifier} on {device} ({how(standings)})"
            for device in reproducer.devices
            if (specifier := reproducer.affected[device]) != "never"
            for standings in [self.states.standings(reproducer, device, self.minors)]
        ]
        return f"affects torch {', '.join(parts) or 'on no device'}"

    def ranges(self, reproducer: Reproducer) -> list[str]:
        """For each device, the results on measured releases, and the expected results elsewhere."""
        return [
            self.range(reproducer, device, self.states.standings(reproducer, device, self.minors))
            for device in reproducer.devices
        ]

    def range(self, reproducer: Reproducer, device: str, standings: dict[str, Standing]) -> str:
        """The line for a device."""
        star = reproducer.stand_in.get(device, "")
        star = f" (stand-in: {star})" if star else ""
        parts = (self._measured(standings), self._expected(standings))
        return f"{device}{star}: {'; '.join(filter(None, parts))}"

    def _measured(self, standings: dict[str, Standing]) -> str:
        """ "measured 2026-11-21: absent on 2.2, reproduced on 2.3 to 2.15", or ""."""
        words = tuple(standing.state if standing.date else "" for standing in standings.values())
        newest = _newest(standings)
        return f"measured {newest}: {self._spans(words)}" if newest else ""

    def _expected(self, standings: dict[str, Standing]) -> str:
        """The states that the header expects on releases without measurements, or ""."""
        words = tuple(
            "" if standing.date else EXPECTED[standing.expected] for standing in standings.values()
        )
        return f"{NOT_MEASURED}: {self._spans(words)}" if any(words) else ""

    def note(self, reproducer: Reproducer, pattern: str) -> str:
        """The releases that raised this text, if they differ from those with the failure, or "".

        The wording may change before the failure is fixed, and a text may belong to another device.
        """
        if pattern in reproducer.elsewhere:
            return "no run here has raised this text"
        raised = self.states.raised(reproducer, pattern)
        failing = {
            minor
            for device in reproducer.devices
            for minor, state in self.states.verdicts(reproducer, device).items()
            if state == "reproduced"
        }
        if not raised or failing == set(raised):
            return ""
        return f"this text was raised on {torches.span(raised, self.releases)}"

    def said(self, reproducer: Reproducer, matched: str) -> str:
        """The note for the matched part of a user's text, or ""."""
        text = " ".join(matched.split())
        patterns = [
            pattern for pattern in reproducer.texts if re.search(pattern, text, re.IGNORECASE)
        ]
        notes = [self.note(reproducer, pattern) for pattern in patterns]
        return notes[0] if notes and all(notes) else ""

    @cache  # noqa: B019  # few reproducers differ in their words
    def _spans(self, words: tuple[str, ...]) -> str:
        """ "reproduced on 2.3 to 2.15", given a word per release. Releases with "" are omitted."""
        spans: dict[str, list[str]] = {}
        for word, minor in zip(words, self.minors):
            if word:
                spans.setdefault(word, []).append(minor)
        return ", ".join(
            f"{word} on {torches.span(minors, self.releases)}" for word, minors in spans.items()
        )


def _newest(standings: dict[str, Standing]) -> str:
    """The date of the newest measurement, or "" if there is none."""
    return max((standing.date for standing in standings.values()), default="")


def causes(
    answer: Answer, measured: Measured, version: str | None, everything: bool = False
) -> list[str]:
    """The answer to a message with several causes, as texts for wrap().

    Shows the first causes with their lines and the others by name, unless `everything` is set.
    Causes that do not occur on this torch come last.
    """
    by_id = {reproducer.id: reproducer for reproducer in answer.reproducers}
    absent = {id for id, each in by_id.items() if measured.is_absent(each, version)}
    ordered = sorted(answer.causes, key=lambda cause: cause.see in absent)
    if not answer.was_raised:
        heading = (
            "No run here raised this message. Its causes according to their sources, most likely "
            "first:"
        )
    elif len(ordered) == 1:
        heading = "This cause is likely:" if ordered[0].likely else "Check this cause:"
    elif ordered[0].cause in answer.named and not ordered[0].likely:
        heading = "Check these causes. The text points to the first:"
    else:
        heading = "The text alone does not show the cause. Check these, most likely first:"
    blocks = []
    for position, cause in enumerate(ordered, 1):
        lines = ["", f" {position}. {cause.cause}", f"    {cause.check}"]
        if cause.cause in answer.named:
            how = "makes this cause likely" if cause.likely else "points to this cause"
            lines.append(f"    the text {how}: {answer.named[cause.cause]}")
        if cause.see in by_id and everything:
            lines += _everything_of(by_id[cause.see], answer.matched, measured, version)
        elif cause.see in by_id:
            lines += _start_of(by_id[cause.see], cause.see in absent, with_code=position == 1)
        if cause.wrong and (everything or position == 1):
            pair = {f"wrong{_on(cause.requires)}": cause.wrong, "right": cause.right}
            if not everything and cause.right.count("\n") >= SHORT:
                pair = {f"right{_on(cause.requires)}": cause.right}
            lines += [Code(labelled(label, its, 4)) for label, its in pair.items()]
        if cause.source:
            lines.append(Code(f"    source: {cause.source}"))
        blocks.append(lines)
    shown = len(ordered) if everything else SHOWN_CAUSES
    while shown > 1 and not everything and _height(_flat(blocks[:shown])) > CAUSES_LINES:
        shown -= 1
    lines = ["", heading, *_flat(blocks[:shown])]
    others = [f" {number}. {each.cause}" for number, each in enumerate(ordered, 1)][shown:]
    room = max(3, CAUSES_LINES - _height(lines))
    if len(others) > room:
        others = [*others[: room - 1], f" ... and {len(others) - room + 1} more"]
    more = []
    if others or (by_id and not everything):
        more = ["", "`torch-repros explain --all` shows every cause, with its measurements."]
    elif by_id:
        more = ["", "`torch-repros show ID` shows everything about one of them."]
    return [*lines, *([""] if others else []), *others, *more]


def _flat(blocks: list[list[str]]) -> list[str]:
    return [line for block in blocks for line in block]


def _height(texts: list[str]) -> int:
    """The number of lines in a terminal of 80 columns."""
    return wrap(texts, 80).count("\n") + 1


def _start_of(reproducer: Reproducer, is_absent: bool, with_code: bool) -> list[str]:
    """The id of a cause's reproducer, and its lines if there is room for them."""
    lines = reproducer.right or reproducer.use
    code = [Code(_indented(lines, 8))] if with_code and lines.strip().count("\n") < SHORT else []
    absent = " (not on your torch)" if is_absent else ""
    return [f"    {reproducer.id}{absent}{':' if code else ''}", *code]


def _everything_of(
    reproducer: Reproducer, matched: str, measured: Measured, version: str | None
) -> list[str]:
    """The measurements, the lines and the fix of a cause's reproducer."""
    lines = [f"    {reproducer.id}: {_ranges(reproducer, matched, measured, version)}"]
    lines += [Code(labelled(label, its, 4)) for label, its in advice(reproducer).items()]
    if reproducer.choice:
        lines.append(f"    {reproducer.choice}.")
    return [*lines, f"    fix: {fix(reproducer)}"]


def brief(answer: Answer, measured: Measured, version: str | None) -> list[str]:
    """The answer to a message with a single cause: what to change, why, and on which torch.

    In a terminal with 80 columns, it has at most LINES lines, unless the code to write is longer.
    """
    reproducer = answer.reproducers[0]
    sentences = _sentences(reproducer)
    links = [f"report: {url}" for url in reproducer.reports]
    links += [f"document: {url}" for url in reproducer.documents]
    link = [Code(text) for text in links[:1]]
    where = measured.sentence(reproducer, version) if version else measured.short(reproducer)
    while True:
        lines = [*_change(reproducer), "", f"Why: {' '.join(sentences)}"]
        lines += [f"{reproducer.id}: {where}", *link, f"more: torch-repros show {reproducer.id}"]
        if _height(lines) <= LINES:
            return lines
        if len(sentences) > 1:
            sentences.pop()
        elif link:
            link = []
        else:
            return lines


def _change(reproducer: Reproducer) -> list[str]:
    """Describes what to write."""
    lines = []
    for label, its in list(advice(reproducer).items())[:1]:
        lines += ["", f"{label.capitalize()}:", Code(_indented(its))]
    if reproducer.choice:
        lines.append(f"{reproducer.choice}.")
    if reproducer.fix:
        lines.append(f"fix: {fix(reproducer)}")
    return lines


def _sentences(reproducer: Reproducer) -> list[str]:
    """The cause: the second paragraph of the docstring, or the first if there is only one."""
    paragraphs = reproducer.doc.split("\n\n")
    cause = " ".join(paragraphs[min(1, len(paragraphs) - 1)].split())
    return re.split(r"(?<=[.:]) (?=[A-Z])", cause)


def _ranges(reproducer: Reproducer, matched: str, measured: Measured, version: str | None) -> str:
    sentences = [measured.sentence(reproducer, version), measured.said(reproducer, matched)]
    return "; ".join(filter(None, sentences))


def summary(answer: Answer, measured: Measured, version: str | None) -> list[str]:
    """The answer to a message with one cause, as texts for wrap()."""
    reproducer = answer.reproducers[0]
    lines = [f"{reproducer.id}: {_ranges(reproducer, answer.matched, measured, version)}"]
    lines += ["", Prose(reproducer.doc)]
    for label, lines_of in {"wrong": reproducer.wrong, **advice(reproducer)}.items():
        lines += ["", f"{label.capitalize()}:", Code(_indented(lines_of))]
    if reproducer.choice:
        lines += ["", f"{reproducer.choice}."]
    for title, role in (
        ("Control (the same code without the cause):", "control"),
        ("Popular fix that does not help:", "popular_fix"),
    ):
        if role in reproducer.roles:
            lines += ["", title, Code(_indented(reproducer.function(role)))]
    return [
        *lines,
        "",
        f"fix: {fix(reproducer)}",
        f"origin: {whose(reproducer)}",
        *(Code(f"report: {link}") for link in reproducer.reports),
        f"more: torch-repros show {reproducer.id}",
    ]


def full_text(reproducer: Reproducer, measured: Measured, version: str | None) -> list[str]:
    """Everything about one reproducer, as texts for wrap()."""
    popular = "in the file; it leaves a symptom" if "popular_fix" in reproducer.roles else ""
    needs = [reproducer.requires and f"torch {reproducer.requires}", reproducer.platform]
    needs += [f"torch {needed} on {device}" for device, needed in reproducer.requires_on.items()]
    facts = {
        "kind": reproducer.kind,
        "origin": whose(reproducer),
        "wrong": Code(reproducer.wrong),
        **{label: Code(lines_of) for label, lines_of in advice(reproducer).items()},
        "choice": f"{reproducer.choice}." if reproducer.choice else "",
        "needs": " ".join(filter(None, needs)),
        "scan": ", when ".join(filter(None, [reproducer.rule, reproducer.when])),
        "fix": fix(reproducer),
        "popular fix": popular,
        "fixed by": reproducer.fixing_change,
        "upstream": reproducer.upstream,
        "retired": reproducer.retired,
    }
    return [
        reproducer.id,
        reproducer.title,
        "",
        Prose(reproducer.doc),
        "",
        Code(f"The code ({reproducer.path}):"),
        "",
        Code(_indented(reproducer.code)),
        "",
        *([measured.sentence(reproducer, version), ""] if version else []),
        *measured.ranges(reproducer),
        "",
        *(type(fact)(labelled(name, fact)) for name, fact in facts.items() if fact),
        *(Code(f"report: {link}") for link in reproducer.reports),
        *(Code(f"document: {link}") for link in reproducer.documents),
    ]


def as_json(
    explanation: Explanation,
    guesses: list[Found],
    measured: Measured,
    version: str | None,
) -> dict[str, Any]:
    """The explanation for scripts. `format` changes if a key is removed or its meaning changes."""
    return {
        "format": 1,
        "torch": version,
        "readings": explanation.readings,
        "answers": [
            {
                "title": answer.title,
                "page": f"messages/{answer.name}.html" if answer.name else "",
                "was_raised": answer.was_raised,
                "matched": " ".join(answer.matched.split()),
                "line": answer.line,
                "ids": answer.ids,
                "causes": [
                    cause.as_json() | {"named_by": answer.named.get(cause.cause, "")}
                    for cause in answer.causes
                ],
                "reproducers": [
                    facts(reproducer, measured, version)
                    | {"text": measured.said(reproducer, answer.matched)}
                    for reproducer in answer.reproducers
                ],
            }
            for answer in explanation.answers
        ],
        "guesses": [{"ids": guess.ids, "title": guess.title} for guess in guesses],
    }


def facts(reproducer: Reproducer, measured: Measured, version: str | None) -> dict[str, Any]:
    keys = ("id", "title", "kind", "wrong", "right", "right_requires", "use", "choice")
    facts = {key: getattr(reproducer, key) for key in keys}
    on_torch = {
        device: measured.states.standing(reproducer, device, torches.minor(version))._asdict()
        for device in (reproducer.devices if version else ())
    }
    return facts | {
        "fix": fix(reproducer),
        "affected": reproducer.affected,
        "on_torch": on_torch,
    }


def advice(reproducer: Reproducer) -> dict[str, str]:
    """Maps a label to the lines to write, without and with the fix."""
    return {
        label: lines
        for label, lines in (
            (f"right{_on(reproducer.right_requires)}", reproducer.right),
            ("right, with the fix", reproducer.use),
        )
        if lines
    }


def _on(requires: str) -> str:
    return f" (torch {requires})" if requires else ""


def fix(reproducer: Reproducer) -> str:
    """A description of the fix."""
    if not reproducer.fix:
        return "write the lines under `right`"
    if not reproducer.fix_module:
        return "upgrade torch"
    module = reproducer.fix_module
    where = f"reference_fixes/{module}.py: torch-repros vendor {module} --into DIR"
    return f"{reproducer.fix_function}() of {where}"


def whose(reproducer: Reproducer) -> str:
    """The origin of the failure, in words."""
    return f"{reproducer.origin}: {ORIGINS[reproducer.origin]}"


def labelled(name: str, lines: str, indent: int = 0) -> str:
    """ "name: line", or the name followed by several lines."""
    margin = " " * indent
    if "\n" in lines.strip():
        return f"{margin}{name}:\n{_indented(lines, indent + 4)}"
    return f"{margin}{name}: {lines.strip()}"


def _indented(code: str, indent: int = 4) -> str:
    return "\n".join(f"{' ' * indent}{line}".rstrip() for line in code.strip("\n").splitlines())
