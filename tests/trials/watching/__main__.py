"""Watches every reproducer and every control, and writes docs/watch.md.

nox -s watch        or        python -m tests.trials.watching
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from matrix import catalog
from tests.forked import Job, run_all
from tests.trials.healthy import __main__ as healthy
from tests.trials.shared import DOCS, ROOT, table, write

PAGE = DOCS / "watch.md"
DRIVER = ROOT / "tests" / "watching" / "watched.py"
PROGRAMS = ROOT / "tests" / "watching" / "programs"
CHECKS = catalog.PACKAGE / "watching" / "checks"
LOUD = ("error", "warning")


class Seen(NamedTuple):
    id: str
    role: str
    found: list[dict[str, Any]]
    failed: dict[str, str]


def checks() -> list[str]:
    """The names of all checks."""
    paths = sorted(CHECKS.glob("*/*.py"))
    return [f"{path.parent.name}/{path.stem}" for path in paths if path.stem != "shared"]


def watch_all(reproducers: list[catalog.Reproducer]) -> tuple[str, list[Seen]]:
    """The version of torch, and what was seen in both roles of each reproducer."""
    pairs = [(each, role) for each in reproducers for role in ("reproduce", "control")]
    jobs = [Job([str(DRIVER), each.id, role], str(ROOT), each.timeout) for each, role in pairs]
    torch, ended = run_all(jobs)
    seen = []
    for (reproducer, role), (status, output) in zip(pairs, ended):
        try:
            answer = json.loads(output.splitlines()[-1])
        except (IndexError, ValueError):
            print(f"{reproducer.id} {role}: ended with {status}", file=sys.stderr)
            continue
        seen.append(Seen(reproducer.id, role, answer["found"], answer["failed"]))
    return torch, seen


def is_silent(reproducer: catalog.Reproducer) -> bool:
    return reproducer.kind == "silent" and reproducer.origin in ("usage", "design")


def page(torch: str, reproducers: list[catalog.Reproducer], seen: list[Seen]) -> str:
    names = checks()
    named = {each.id for each in seen if each.role == "reproduce" and _ids(each) & {each.id}}
    silent = [each for each in reproducers if is_silent(each)]
    own = [each for each in silent if each.id in named]
    either = [each for each in silent if each.id in named or each.rule]
    controls = [each for each in seen if each.role == "control"]
    false = [each for each in controls if any(one["level"] in LOUD for one in each.found)]
    rows = []
    for name in names:
        program = "program" if (PROGRAMS / f"{name}.py").is_file() else "reproducer"
        rows.append((f"`{name}`", _level(name), program, "yes" if name in named else "no"))
    lines = [
        "# What the watch names",
        "",
        f"`nox -s watch` writes this page, here with torch {torch.split('+')[0]} on the CPU. It runs",
        "each reproducer and each control while `torch_repros.watch()` looks at them.",
        "A reproducer that takes no step of an optimizer shows the watch less than a training program does.",
        "For some checks, a small training program in `tests/watching/programs/` therefore replaces the reproducer.",
        "",
        table(
            ("", "count"),
            [
                ("silent failures whose origin is usage or design", len(silent)),
                ("named by their own check", f"{len(own)} ({len(own) / len(silent):.0%})"),
                (
                    "named by a check or by a rule of scan",
                    f"{len(either)} ({len(either) / len(silent):.0%})",
                ),
                ("controls that were watched", len(controls)),
                ("controls with an error or a warning", len(false)),
            ],
            numbers=("count",),
        ),
        "",
        "## Checks",
        "",
        "The column *seen in* names the watched code: the reproducer, or the program that replaces it.",
        "",
        table(("check", "level", "seen in", "named"), rows),
        "",
        "## Controls with an error or a warning",
        "",
    ]
    for each in false:
        for finding in each.found:
            if finding["level"] in LOUD:
                lines.append(f"- `{each.id}`: `{finding['id']}`: {finding['message']}")
    lines += ["", healthy.section()]
    return "\n".join(lines).rstrip() + "\n"


def _ids(seen: Seen) -> set[str]:
    return {finding["id"] for finding in seen.found}


def _level(name: str) -> str:
    text = (CHECKS / f"{name}.py").read_text(encoding="utf-8")
    return text.partition('level = "')[2].partition('"')[0]


def main() -> None:
    reproducers = [each for each in catalog.load() if not each.retired]
    torch, seen = watch_all([each for each in reproducers if "cpu" in each.affected])
    for each in seen:
        for check, error in each.failed.items():
            print(f"{each.id} {each.role}: {check} failed: {error}", file=sys.stderr)
    write(Path(PAGE), page(torch, reproducers, seen))


if __name__ == "__main__":
    main()
