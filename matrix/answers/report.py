"""A report about one reproducer, ready to paste: what was observed, and what was expected instead.

The code block is the whole program and prints what it saw: pasted into a file, it fails.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from string import Template

from packaging.version import Version

from .. import __version__
from ..catalog import CLONE, ORIGINS, Reproducer
from ..evidence.observation import NothingObserved, Observation, versions_of
from ..evidence.records import Record, fresh
from ..evidence.states import States

TEMPLATES = Path(__file__).with_name("reports")
VENUES = ("github", "forum", "stackoverflow", "markdown")

EXPECTED = {
    "error": "No error.",
    "silent": "The right result, or an error that says why there is none.",
    "crash": "No crash.",
    "hang": "The call returns.",
    "leak": "The memory is given back.",
    "oom": "The memory is given back, and the step fits.",
}
CONTROL = "`control()` in the same file is the same scenario without the cause, and it passes."

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
        raise ReportError(
            f"{reproducer.id} has no record{on} on {', '.join(devices)}: measure it with --run"
        )
    record, best = next((pair for pair in found if pair[1].verdict == "reproduced"), found[0])
    runs = f"{best.agreeing} of {best.runs} runs on {record.device}"
    return Observation(
        verdict=best.verdict,
        text=best.text or best.detail,
        device=record.device,
        torch=record.torch,
        origin=f"From a record of {best.date}, {runs}; not measured on this machine.",
        versions=versions_of(
            {"torch": record.torch, **best.source.build}, best.source.hardware.get("name")
        ),
    )


def report(
    reproducer: Reproducer,
    seen: Observation,
    ranges: list[str],
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
            f"Ask about it elsewhere: --venue {', '.join(VENUES[1:])}"
        )
    if upstream and reproducer.upstream_reports:
        known = ", ".join(reproducer.upstream_reports)
        raise ReportError(f"{reproducer.id} is reported upstream already: {known}")
    if seen.verdict != "reproduced":
        raise ReportError(_nothing_to_report(reproducer, seen, ranges))
    expected = EXPECTED[reproducer.kind]
    if venue == "stackoverflow" and expected.startswith("No"):
        expected = expected.lower()  # it goes on a sentence there
    return Template((TEMPLATES / f"{venue}.md").read_text(encoding="utf-8")).substitute(
        title=reproducer.title,
        doc=reproducer.doc,
        code=_block(reproducer.program(seen.device), "python"),
        observed=f"{_block(seen.text)}\n{seen.origin}",
        expected=expected,
        control=CONTROL,
        ranges="\n".join(f"- {line}" for line in ranges),
        origin=f"Origin: {whose}.",
        sources=_sources(reproducer),
        link=permalink(reproducer),
        versions=_block(seen.versions),
    )


def _nothing_to_report(reproducer: Reproducer, seen: Observation, ranges: list[str]) -> str:
    """Since when it is absent, and by which change, as far as that is known."""
    lines = [f"{reproducer.id} is {seen.verdict} on torch {seen.torch}, {seen.device}"]
    if reproducer.fixed_by:
        lines.append(f"fixed by {reproducer.fixed_by}: {reproducer.fixing_change}")
    lines += ranges
    lines.append("name an older release with --torch to quote its record")
    return "\n  ".join(lines)


def _sources(reproducer: Reproducer) -> str:
    parts = []
    for title, links in (
        ("Reported before:", reproducer.reports),
        ("Stated in:", reproducer.documents),
    ):
        if links:
            parts.append("\n".join([title, "", *(f"- {link}" for link in links)]))
    return "\n\n".join(parts)


def _block(text: str, language: str = "") -> str:
    return f"```{language}\n{text}\n```"


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


def unreported(reproducers: list[Reproducer], states: States) -> list[Reproducer]:
    """Those that nobody has reported to PyTorch and that show themselves on the newest torch that
    was measured.
    """
    if not states.minors:
        return []
    newest = states.minors[-1]
    return [
        reproducer
        for reproducer in reproducers
        if reproducer.origin == "torch"
        and not reproducer.upstream_reports
        and any(
            states.state(reproducer, device, newest) == "reproduced"
            for device in reproducer.devices
        )
    ]
