"""Writes a report about a reproducer, ready to paste, for readers with little time.

The report starts with the verdict, a complete program, its output, and the expected result. Earlier
reports and the origin of the failure follow. The versions are in a collapsed section at the end.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from string import Template

from packaging.version import Version

from .. import __version__, torches
from ..catalog import CLONE, ORIGINS, UNREPORTED, Reproducer
from ..evidence.observation import NothingObserved, Observation, versions_of
from ..evidence.records import fresh
from ..evidence.schema import Record
from ..evidence.states import States
from .text import Measured

TEMPLATES = Path(__file__).with_name("reports")
VENUES = ("github", "forum", "stackoverflow", "markdown")

EXPECTED = {
    "error": "no error, as with the control.",
    "silent": "the right result, as with the control, or an error that says why there is none.",
    "crash": "no crash, as with the control.",
    "hang": "it ends, as the control does.",
    "leak": "the memory is freed, as with the control.",
    "oom": "the memory is freed and the step fits, as with the control.",
}
_TRACKED = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull|discussions)/(\d+)")
# Characters that Markdown treats as markup outside of backticks, as in "a hook of __init__".
_MARKUP = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])|<|\*")
# Mentions of the popular fix in a docstring. The program does not contain that fix.
_ASIDE = re.compile(r" \(popular fix\)|(?<=\()popular fix[,;] ")

ReportError = NothingObserved


def from_records(
    reproducer: Reproducer, records: list[Record], device: str | None, minor: str | None = None
) -> Observation:
    """Returns the measurement on this release, or on the newest measured release.

    If there are several devices, the first device that shows the failure is used. Raises
    ReportError if there is no measurement.
    """
    affected = [name for name in reproducer.devices if reproducer.affected[name] != "never"]
    devices = [device] if device else affected or reproducer.devices
    pairs = [pair for name in devices for pair in fresh(records, reproducer, name)]
    newest = max((record.minor for record, _ in pairs), key=Version, default=None)
    pairs = [pair for pair in pairs if pair[0].minor == (minor or newest)]
    if not pairs:
        on = f" of torch {minor}" if minor else ""
        how = f" --python PATH, an interpreter with torch {minor}" if minor else ""
        raise ReportError(
            f"{reproducer.id} has no record{on} on {', '.join(devices)}; measure it: "
            f"torch-repros cite {reproducer.id} --run{how}"
        )
    record, best = next((pair for pair in pairs if pair[1].verdict == "reproduced"), pairs[0])
    return Observation(
        verdict=best.verdict,
        text=best.text or best.detail,
        device=record.device,
        torch=record.torch,
        versions=versions_of(
            {"torch": record.torch, **best.source.build}, best.source.hardware.get("name")
        ),
        record=f"a record of {best.date} ({best.agreeing} of {best.runs} runs)",
    )


def report(
    reproducer: Reproducer,
    seen: Observation,
    measured: Measured,
    venue: str | None = None,
    upstream: bool = False,
) -> str:
    """Returns the text to paste. By default, a PyTorch bug is formatted for its tracker (`github`).

    Raises ReportError if there is nothing to report, or nothing that belongs in that venue.
    """
    is_torch_bug = reproducer.origin == "torch"
    venue = venue or ("github" if is_torch_bug else "forum")
    whose = f"{reproducer.origin} ({ORIGINS[reproducer.origin]})"
    if not is_torch_bug and (upstream or venue == "github"):
        raise ReportError(
            f"{reproducer.id} is not a bug to report to PyTorch; its origin is {whose}. "
            f"To ask about it elsewhere: torch-repros cite {reproducer.id} --venue forum "
            f"(or {', '.join(VENUES[2:])})"
        )
    if seen.verdict != "reproduced":
        raise ReportError(_nothing_to_report(reproducer, seen, measured))
    if upstream:
        _refuse_as_new(reproducer, measured.states)
    return Template((TEMPLATES / f"{venue}.md").read_text(encoding="utf-8")).substitute(
        verdict=_verdict(reproducer, seen, measured),
        title=_escaped(reproducer.title),
        code=_block(reproducer.program(seen.device), "python"),
        printed=_printed(seen),
        expected=EXPECTED[reproducer.kind],
        explanation=_explanation(reproducer),
        sources=_sources(reproducer),
        origin=f"Origin: {whose}.",
        link=f"`{reproducer.id}`, {permalink(reproducer)}",
        whose_versions=(
            "Versions of the record, not of my machine" if seen.record else "Versions of my machine"
        ),
        versions=_block(seen.versions),
        ranges="\n".join(f"- {line}" for line in measured.ranges(reproducer)),
    )


def _verdict(reproducer: Reproducer, seen: Observation, measured: Measured) -> str:
    """States where the failure was reproduced, and what was measured elsewhere."""
    stand_in = _escaped(reproducer.stand_in.get(seen.device, ""))
    device = f"{seen.device}; stand-in: {stand_in}" if stand_in else seen.device
    where = f"in {seen.record}; not run on my machine" if seen.record else "on my machine"
    sentences = [f"**Reproduced on torch {seen.torch} ({device})** {where}."]
    unmeasured = []
    for name in reproducer.devices:
        minors = measured.states.releases(reproducer, name, measured.releases)
        spans = [
            f"on {torches.span(minors[state], measured.releases)} it {verb}"
            for state, verb in (("reproduced", "shows"), ("absent", "does not"))
            if state in minors
        ]
        if spans:
            sentences.append(f"Measured on {name}: {', '.join(spans)}.")
        elif name == seen.device:
            sentences.append(f"No other release was measured on {name}.")
        else:
            unmeasured.append(name)
    if unmeasured:
        sentences.append(f"Not measured on {', '.join(unmeasured)}.")
    if reproducer.fixed_by:
        sentences.append(f"Fixed by {reproducer.fixed_by}.")
    return " ".join(sentences)


def _printed(seen: Observation) -> str:
    if not seen.record:
        return f"It prints:\n\n{_block(seen.printed)}"
    return f"Seen in the record (the program was not run for this report):\n\n{_block(seen.text)}"


def _explanation(reproducer: Reproducer) -> str:
    """The docstring with each paragraph on one line, because GitHub preserves line breaks."""
    paragraphs = _ASIDE.sub("", reproducer.doc).split("\n\n")
    return "\n\n".join(_escaped(" ".join(paragraph.split())) for paragraph in paragraphs)


def _escaped(text: str) -> str:
    """The text with Markdown escaped, except between backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick is not closed
        return text
    parts[::2] = [
        _MARKUP.sub(lambda match: "".join(f"\\{sign}" for sign in match[0]), part)
        for part in parts[::2]
    ]
    return "`".join(parts)


def _nothing_to_report(reproducer: Reproducer, seen: Observation, measured: Measured) -> str:
    """The reason why there is nothing to report, and a command that quotes a record."""
    lines = [f"{reproducer.id} is {seen.verdict} on torch {seen.torch}, {seen.device}"]
    if reproducer.fixed_by:
        lines.append(f"fixed by {reproducer.fixed_by}: {reproducer.fixing_change}")
    lines += measured.ranges(reproducer)
    verdicts = measured.states.verdicts(reproducer, seen.device)
    shown = [minor for minor, verdict in verdicts.items() if verdict == "reproduced"]
    if shown:
        lines.append(
            "to quote the newest record that shows it: "
            f"torch-repros cite {reproducer.id} --torch {shown[-1]}"
        )
    return "\n  ".join(lines)


def _refuse_as_new(reproducer: Reproducer, states: States) -> None:
    """Raises ReportError if the bug may already be reported, or is absent on the newest torch."""
    id, reports = reproducer.id, reproducer.upstream_reports or reproducer.reports
    if reproducer.upstream != UNREPORTED:
        where = "\n  ".join(map(_numbered, reports))
        raise ReportError(
            f"{id} has already been reported:\n  {where}\n"
            f"  to write a report that names these: torch-repros cite {id}"
        )
    if not since(reproducer, states):
        raise ReportError(
            f"{id} is not reproduced on the newest torch that was measured, "
            f"{states.minors[-1] if states.minors else 'none'}: there is nothing new to report"
        )


def _sources(reproducer: Reproducer) -> str:
    """Links to known earlier reports, and to pages that state the cause."""
    parts = []
    if reproducer.reports:
        state = "it is not known whether they are open"
        if reproducer.fixed_by:
            state = f"fixed by {reproducer.fixed_by}, {reproducer.fixing_change}"
        parts.append(_list(f"Earlier reports ({state}):", reproducer.reports))
    if reproducer.upstream == UNREPORTED:
        parts.append("No report in PyTorch's tracker is known.")
    if reproducer.documents:
        parts.append(_list("Sources:", reproducer.documents))
    return "\n\n".join(parts)


def _list(title: str, links: tuple[str, ...]) -> str:
    return "\n".join([title, "", *(f"- {_numbered(link)}" for link in links)])


def _numbered(link: str) -> str:
    """ "pytorch/pytorch#7: https://..." if the thread has a number, or else the link."""
    match = _TRACKED.match(link)
    return f"{match[1]}#{match[2]}: {link}" if match else link


def _block(text: str, language: str = "") -> str:
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`{3,}", text))])
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def permalink(reproducer: Reproducer) -> str:
    """The URL of the file at this commit if the origin of the clone is a public host, or else the
    version, the commit and the path.
    """

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(reproducer.path.parent), *arguments]
        try:
            result = subprocess.run(command, capture_output=True, text=True)
        except OSError:  # git is not installed
            return ""
        return result.stdout.strip() if result.returncode == 0 else ""

    path = f"repros/{reproducer.id}.py"
    if not CLONE:  # a repository around site-packages belongs to the user
        return f"torch-repros {__version__}, {path}"
    commit, origin = git("rev-parse", "HEAD"), git("remote", "get-url", "origin")
    tag = git("describe", "--tags", "--exact-match")
    host = re.search(r"(github\.com|gitlab\.com|codeberg\.org)[:/](.+?)(?:\.git)?$", origin)
    if host and commit:
        return f"https://{host[1]}/{host[2]}/blob/{tag or commit}/{path}"
    return f"torch-repros {__version__}{f', commit {commit[:12]}' if commit else ''}, {path}"


def since(reproducer: Reproducer, states: States) -> str:
    """For each device, the release since which all measured releases have shown the failure.

    Returns "" if the newest release does not show the failure on any device.
    """
    sentences = []
    for device in reproducer.devices:
        verdicts = states.verdicts(reproducer, device)
        if not states.minors or verdicts.get(states.minors[-1]) != "reproduced":
            continue
        minors = list(verdicts)
        others = [n for n, minor in enumerate(minors) if verdicts[minor] != "reproduced"]
        first = minors[others[-1] + 1 if others else 0]
        earlier = " or earlier" if first == states.minors[0] else ""
        sentences.append(f"{first}{earlier} on {device}")
    return ", ".join(sentences)


def unreported(reproducers: list[Reproducer], states: States) -> dict[Reproducer, str]:
    """The unreported PyTorch bugs that are still present in the newest measured torch.

    Maps each bug to the result of since().
    """
    return {
        reproducer: first
        for reproducer in reproducers
        if reproducer.origin == "torch" and reproducer.upstream == UNREPORTED
        if (first := since(reproducer, states))
    }
