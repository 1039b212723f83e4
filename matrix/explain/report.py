"""A report about one reproducer, ready to paste: for a reader who has a minute.

The verdict comes first, then a program that can be run as it is, what it printed and what was
expected; who has met it before, and whose failure it is. Versions are folded away at the end.
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
    "leak": "the memory is given back, as with the control.",
    "oom": "the memory is given back and the step fits, as with the control.",
}
_TRACKED = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull|discussions)/(\d+)")
# What Markdown takes for emphasis or HTML outside of backticks, as in "a hook of __init__".
_MARKUP = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])|<|\*")
# The program has no popular fix.
_ASIDE = re.compile(r" \(popular fix\)|(?<=\()popular fix[,;] ")

ReportError = NothingObserved


def from_records(
    reproducer: Reproducer, records: list[Record], device: str | None, minor: str | None = None
) -> Observation:
    """What was measured on this release, or on the newest one that was measured.

    Of several devices the first on which it shows. Raises ReportError where nothing was measured.
    """
    affected = [name for name in reproducer.devices if reproducer.affected[name] != "never"]
    devices = [device] if device else affected or reproducer.devices
    found = [pair for name in devices for pair in fresh(records, reproducer, name)]
    newest = max((record.minor for record, _ in found), key=Version, default=None)
    found = [pair for pair in found if pair[0].minor == (minor or newest)]
    if not found:
        on = f" of torch {minor}" if minor else ""
        how = f" --python PATH, an interpreter with torch {minor}" if minor else ""
        raise ReportError(
            f"{reproducer.id} has no record{on} on {', '.join(devices)}; measure it: "
            f"torch-repros cite {reproducer.id} --run{how}"
        )
    record, best = next((pair for pair in found if pair[1].verdict == "reproduced"), found[0])
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
    """The text to paste: for PyTorch's tracker (`github`) where the bug is PyTorch's.

    Raises ReportError where there is nothing to report, or not there.
    """
    ours = reproducer.origin == "torch"
    venue = venue or ("github" if ours else "forum")
    whose = f"{reproducer.origin} ({ORIGINS[reproducer.origin]})"
    if not ours and (upstream or venue == "github"):
        raise ReportError(
            f"{reproducer.id} is no bug to report to PyTorch; its origin is {whose}. "
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
    """Where it was reproduced, and what was measured elsewhere."""
    stand_in = _escaped(reproducer.stand_in.get(seen.device, ""))
    device = f"{seen.device}; stand-in: {stand_in}" if stand_in else seen.device
    where = f"in {seen.record}; not run on my machine" if seen.record else "on my machine"
    sentences = [f"**Reproduced on torch {seen.torch} ({device})** {where}."]
    unmeasured = []
    for name in reproducer.devices:
        found = measured.states.releases(reproducer, name, measured.releases)
        spans = [
            f"on {torches.span(found[state], measured.releases)} it {verb}"
            for state, verb in (("reproduced", "shows"), ("absent", "does not"))
            if state in found
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
    """A line per paragraph: GitHub breaks lines where a text does."""
    paragraphs = _ASIDE.sub("", reproducer.doc).split("\n\n")
    return "\n\n".join(_escaped(" ".join(paragraph.split())) for paragraph in paragraphs)


def _escaped(text: str) -> str:
    """As Markdown, in which it means itself. What stands between backticks does already."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one that is not closed
        return text
    parts[::2] = [
        _MARKUP.sub(lambda found: "".join(f"\\{sign}" for sign in found[0]), part)
        for part in parts[::2]
    ]
    return "`".join(parts)


def _nothing_to_report(reproducer: Reproducer, seen: Observation, measured: Measured) -> str:
    """Since when it is absent, and by which change, as far as that is known; what to type."""
    lines = [f"{reproducer.id} is {seen.verdict} on torch {seen.torch}, {seen.device}"]
    if reproducer.fixed_by:
        lines.append(f"fixed by {reproducer.fixed_by}: {reproducer.fixing_change}")
    lines += measured.ranges(reproducer)
    verdicts = measured.states.verdicts(reproducer, seen.device)
    shown = [minor for minor, verdict in verdicts.items() if verdict == "reproduced"]
    if shown:
        lines.append(
            "the newest record that shows it is quoted by: "
            f"torch-repros cite {reproducer.id} --torch {shown[-1]}"
        )
    return "\n  ".join(lines)


def _refuse_as_new(reproducer: Reproducer, states: States) -> None:
    """Raises ReportError where it is reported, may be, or is gone from the newest torch."""
    id, known = reproducer.id, reproducer.upstream_reports or reproducer.reports
    if reproducer.upstream != UNREPORTED:
        where = "\n  ".join(map(_numbered, known))
        raise ReportError(
            f"{id} is reported already:\n  {where}\n"
            f"  a report that names these is written by: torch-repros cite {id}"
        )
    if not since(reproducer, states):
        raise ReportError(
            f"{id} is not reproduced on the newest torch that was measured, "
            f"{states.minors[-1] if states.minors else 'none'}: it is no new report"
        )


def _sources(reproducer: Reproducer) -> str:
    """Who met it before, as far as that is known, and where its cause is stated."""
    parts = []
    if reproducer.reports:
        state = "whether they are open is not known"
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
    """ "pytorch/pytorch#7: https://..." of a thread that has a number."""
    found = _TRACKED.match(link)
    return f"{found[1]}#{found[2]}: {link}" if found else link


def _block(text: str, language: str = "") -> str:
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`{3,}", text))])
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def permalink(reproducer: Reproducer) -> str:
    """The file at this commit where the clone's origin is a public host, else its path, commit and
    version.
    """

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(reproducer.path.parent), *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError:  # no git
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""

    path = f"repros/{reproducer.id}.py"
    if not CLONE:  # a repository around site-packages is the user's own
        return f"torch-repros {__version__}, {path}"
    commit, origin = git("rev-parse", "HEAD"), git("remote", "get-url", "origin")
    tag = git("describe", "--tags", "--exact-match")
    host = re.search(r"(github\.com|gitlab\.com|codeberg\.org)[:/](.+?)(?:\.git)?$", origin)
    if host and commit:
        return f"https://{host[1]}/{host[2]}/blob/{tag or commit}/{path}"
    return f"torch-repros {__version__}{f', commit {commit[:12]}' if commit else ''}, {path}"


def since(reproducer: Reproducer, states: States) -> str:
    """From which release on it shows without a gap up to the newest torch that was measured, per
    device; "" where it does not show there.
    """
    found = []
    for device in reproducer.devices:
        verdicts = states.verdicts(reproducer, device)
        if not states.minors or verdicts.get(states.minors[-1]) != "reproduced":
            continue
        minors = list(verdicts)
        others = [n for n, minor in enumerate(minors) if verdicts[minor] != "reproduced"]
        first = minors[others[-1] + 1 if others else 0]
        earlier = " or earlier" if first == states.minors[0] else ""
        found.append(f"{first}{earlier} on {device}")
    return ", ".join(found)


def unreported(reproducers: list[Reproducer], states: States) -> dict[Reproducer, str]:
    """Those that nobody has reported to PyTorch and that show themselves on the newest torch that
    was measured, with since when.
    """
    return {
        reproducer: first
        for reproducer in reproducers
        if reproducer.origin == "torch" and reproducer.upstream == UNREPORTED
        if (first := since(reproducer, states))
    }
