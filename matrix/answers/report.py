"""A report about one reproducer, ready to paste, in the form of PyTorch's bug template: what was observed, not what was expected.

The code block is the whole file and prints what it saw, so that whoever pastes it into a file has the failure.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from typing import Any

from .. import __version__, catalog, torches
from ..evidence import grid, records
from ..run import runner

UPSTREAM = re.compile(r"https://github\.com/pytorch/pytorch/(issues|pull)/\d+")

EXPECTED = {
    "error": "No error.",
    "silent": "The right result, or an error that says why there is none.",
    "crash": "No crash.",
    "hang": "The call returns.",
    "leak": "The memory is given back.",
    "oom": "The memory is given back, and the step fits.",
}


@dataclass
class Seen:
    """What the report quotes, and where it comes from."""

    verdict: str
    text: str
    device: str
    origin: str  # a sentence: measured here, or which record
    versions: str


class CiteError(Exception):
    """The report cannot be made; the text says why."""


def measured_here(entry: catalog.Reproducer, python: str, device: str | None) -> Seen:
    """Runs it once in this interpreter's torch. Raises runner.RunnerError or CiteError."""
    wanted = (device,) if device else tuple(entry.devices)
    with runner.Worker(python, wanted, None) as worker:
        usable = [device for device in wanted if worker.devices[device]["ok"]]
        if not usable:
            reasons = "; ".join(f"{device}: {worker.devices[device]['reason']}" for device in wanted)
            raise CiteError(f"{entry.id} concerns {', '.join(entry.affected)}, and none of them works here: {reasons}")
        report = runner.run([entry], worker, tuple(usable))
    ran = [result for result in report.results if result.runs]
    # the device on which it shows, where there is one
    best = min(ran, key=lambda result: result.verdict != "reproduced", default=None)
    if best is None:
        raise CiteError(f"{entry.id} cannot be run here: {report.results[0].detail}")
    return Seen(
        best.verdict,
        best.text or best.detail,
        best.device,
        f"Measured on this machine, on {best.device}.",
        _collect_env(python, report.build),
    )


def _collect_env(python: str, build: dict[str, Any]) -> str:
    """What `python -m torch.utils.collect_env` says in the tested interpreter, without the long list of its CPU's flaws."""
    done = subprocess.run([python, "-m", "torch.utils.collect_env"], capture_output=True, text=True, timeout=120)
    if done.returncode:
        return versions_of(build)
    lines = done.stdout.strip().splitlines()
    return "\n".join(line for line in lines if not re.match(r"(Vulnerability|Flags|Collecting)\b", line.strip()))


def from_records(entry: catalog.Reproducer, device: str | None) -> Seen:
    """The newest torch on which it was recorded to show itself, else the newest recorded at all. Raises CiteError."""
    devices = [device] if device else entry.devices
    found = [(cell, seen) for name in devices for cell, seen in records.fresh(records.load(), entry, name)]
    if not found:
        raise CiteError(f"{entry.id} has no record on {', '.join(devices)}: measure it with --run")
    shown = [pair for pair in found if pair[1].verdict == "reproduced"]
    cell, seen = (shown or found)[-1]
    origin = f"From a record of {seen.date}, {seen.agreeing} of {seen.runs} runs on {cell.device}; not measured on this machine."
    return Seen(seen.verdict, seen.text or seen.detail, cell.device, origin, versions_of(cell.build, cell.hardware))


def versions_of(build: dict[str, Any], hardware: dict[str, Any] | None = None) -> str:
    """The lines of collect_env that a record knows."""
    facts = {
        "PyTorch version": build.get("torch"),
        "CUDA used to build PyTorch": build.get("cuda") or "None",
        "OS": build.get("os"),
        "Python version": build.get("python"),
        "numpy": build.get("numpy"),
        "Hardware": (hardware or {}).get("name"),
    }
    return "\n".join(f"{name}: {value}" for name, value in facts.items() if value)


def versions_range(entry: catalog.Reproducer) -> list[str]:
    """Per device, which torch versions were measured to be what."""
    axis, cells = torches.load(), records.load()
    lines = []
    for device in entry.devices:
        states = grid.by_state(entry, device, axis, cells)
        star = f" ({entry.stand_in[device]})" if device in entry.stand_in else ""
        lines.append(f"{device}{star}: " + "; ".join(f"{state} on {_span(minors, axis)}" for state, minors in states.items()))
    return lines


def _span(minors: list[str], axis: list[torches.Torch]) -> str:
    everything = [torch.minor for torch in axis]
    first = everything.index(minors[0])
    gapless = minors == everything[first : first + len(minors)]
    return f"{minors[0]} to {minors[-1]}" if gapless and len(minors) > 2 else ", ".join(minors)


def permalink(entry: catalog.Reproducer) -> str:
    """The file at this commit where the clone's origin is a public host, else its path, commit and version."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(entry.path.parent), *arguments], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    path = f"repros/{entry.id}.py"
    try:
        commit, origin = git("rev-parse", "HEAD"), git("remote", "get-url", "origin")
        tag = git("describe", "--tags", "--exact-match")
    except OSError:  # no git
        commit = origin = tag = ""
    host = re.search(r"(github\.com|gitlab\.com|codeberg\.org)[:/](.+?)(?:\.git)?$", origin)
    if host and commit:
        return f"https://{host[1]}/{host[2]}/blob/{tag or commit}/{path}"
    return f"torch-repros {__version__}{f', commit {commit[:12]}' if commit else ''}, {path}"


def program(entry: catalog.Reproducer, device: str) -> str:
    """The file's code as a program that prints what it saw; the file itself only exits with it."""
    code = re.split(r"\n+if __name__ == ", entry.code)[0]
    return f'{code}\n\n\nif __name__ == "__main__":\n    print(reproduce("{device}"))'


def report(entry: catalog.Reproducer, seen: Seen, venue: str, upstream: bool = False) -> str:
    """The text to paste."""
    if upstream and (known := [source for source in entry.sources if UPSTREAM.match(source)]):
        raise CiteError(f"{entry.id} is reported upstream already: {', '.join(known)}")
    what = f"```python\n{program(entry, seen.device)}\n```"
    state = "" if seen.verdict == "reproduced" else f" The verdict there is {seen.verdict}."
    observed = f"```\n{seen.text or 'None'}\n```\n{seen.origin}{state}"
    control = "`control()` in the same file is the same scenario with only the cause removed, and it is healthy."
    ranges = "\n".join(f"- {line}" for line in versions_range(entry))
    sources = "\n".join(f"- {source}" for source in entry.sources)
    versions = f"```\n{seen.versions}\n```"
    expected = EXPECTED[entry.kind]
    link = permalink(entry)
    related = "Related, none of them in pytorch/pytorch:" if upstream else "Reported before:"
    if venue == "github":
        return f"""### 🐛 Describe the bug

{entry.title}.

{what}

Observed:

{observed}

Expected: {expected}

{control}

{entry.doc}

Measured over torch versions:

{ranges}

{related}

{sources}

Reproducer: {link}

### Versions

{versions}
"""
    if venue == "stackoverflow":
        return f"""{entry.title}. Here is a program that shows it:

{what}

It prints:

{observed}

I expected: {expected.lower() if expected.startswith("No") else expected} {control}

Which torch versions show it, as measured:

{ranges}

My versions:

{versions}

The reproducer is {link}.
"""
    if venue == "forum":
        return f"""{entry.title}.

{what}

**Observed**

{observed}

**Expected**

{expected} {control}

[details="Versions"]
{versions}
[/details]

Measured over torch versions:

{ranges}

Reproducer: {link}
"""
    return f"""# {entry.title}

{entry.doc}

{what}

Observed:

{observed}

Expected: {expected} {control}

{ranges}

{sources}

Reproducer: {link}

{versions}
"""


def unreported(entries: list[catalog.Reproducer]) -> list[catalog.Reproducer]:
    """Of PyTorch's own, not yet reported there: they show themselves on the newest torch that was measured, with PyTorch at fault."""
    newest = torches.load()[-1].minor
    cells = records.load()
    return [
        entry
        for entry in entries
        if not any(UPSTREAM.match(source) for source in entry.sources)
        and any(grid.state(entry, device, newest, cells) == "reproduced" for device in entry.affected)
    ]
