"""A report about one reproducer, ready to paste: what was observed, and what was expected instead.

The code block is the whole program and prints what it saw: pasted into a file, it fails.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from string import Template

from .. import __version__
from ..catalog import CLONE, Reproducer
from ..evidence.observation import NothingObserved, Observation, versions_of
from ..evidence.records import Record, fresh
from ..evidence.states import States

UPSTREAM = re.compile(r"https://github\.com/pytorch/pytorch/(issues|pull)/\d+")
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


def from_records(reproducer: Reproducer, records: list[Record], device: str | None) -> Observation:
    """The newest torch on which it was recorded to show itself, else the newest recorded.

    Raises ReportError.
    """
    devices = [device] if device else reproducer.devices
    measured = [pair for name in devices for pair in fresh(records, reproducer, name)]
    if not measured:
        raise ReportError(
            f"{reproducer.id} has no record on {', '.join(devices)}: measure it with --run"
        )
    reproduced = [pair for pair in measured if pair[1].verdict == "reproduced"]
    record, newest = (reproduced or measured)[-1]
    runs = f"{newest.agreeing} of {newest.runs} runs on {record.device}"
    return Observation(
        verdict=newest.verdict,
        text=newest.text or newest.detail,
        device=record.device,
        origin=f"From a record of {newest.date}, {runs}; not measured on this machine.",
        versions=versions_of(
            {"torch": record.torch, **newest.source.build}, newest.source.hardware.get("name")
        ),
    )


def report(
    reproducer: Reproducer, seen: Observation, ranges: list[str], venue: str, upstream: bool = False
) -> str:
    """The text to paste. Raises ReportError where a new report to PyTorch is wanted and there is
    one already.
    """
    known = [source for source in reproducer.sources if UPSTREAM.match(source)]
    if upstream and known:
        raise ReportError(f"{reproducer.id} is reported upstream already: {', '.join(known)}")
    state = "" if seen.verdict == "reproduced" else f" The verdict there is {seen.verdict}."
    expected = EXPECTED[reproducer.kind]
    if venue == "stackoverflow" and expected.startswith("No"):
        expected = expected.lower()  # it goes on a sentence there
    return Template((TEMPLATES / f"{venue}.md").read_text(encoding="utf-8")).substitute(
        title=reproducer.title,
        doc=reproducer.doc,
        code=_block(reproducer.program(seen.device), "python"),
        observed=f"{_block(seen.text or 'None')}\n{seen.origin}{state}",
        expected=expected,
        control=CONTROL,
        ranges="\n".join(f"- {line}" for line in ranges),
        related="Related, none of them in pytorch/pytorch:" if upstream else "Reported before:",
        sources="\n".join(f"- {source}" for source in reproducer.sources),
        link=permalink(reproducer),
        versions=_block(seen.versions),
    )


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
        if not any(UPSTREAM.match(source) for source in reproducer.sources)
        and any(
            states.state(reproducer, device, newest) == "reproduced"
            for device in reproducer.devices
        )
    ]
