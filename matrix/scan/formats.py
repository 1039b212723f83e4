"""Findings as text, JSON, SARIF 2.1.0 and the workflow commands of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .. import HOME, __version__
from ..catalog import LEVELS, Reproducer
from ..explain import text
from ..explain.wrapping import Code
from ..printing import printable_line
from .scanning import Finding, PassedOver


def sentence(finding: Finding) -> str:
    """What happens, and under what condition."""
    return f"{finding.what}{f' (when {finding.when})' if finding.when else ''}"


def lines(findings: list[Finding]) -> list[str]:
    """One line per finding, in the form that editors and problem matchers know."""
    return [
        printable_line(f"{finding.where}: {finding.level}: {sentence(finding)} [{finding.id}]")
        for finding in findings
    ]


def about(reproducer: Reproducer, measured: text.Measured, version: str | None) -> list[str]:
    """What is known of a failure that was found."""
    facts = [
        f"{reproducer.id}: {reproducer.title}",
        f"  {measured.sentence(reproducer, version)}",
        Code(text.labelled("wrong", reproducer.wrong, 2)),
    ]
    for label, lines in text.advice(reproducer).items():
        facts.append(Code(text.labelled(label, lines, 2)))
    if reproducer.choice:
        facts.append(f"  {reproducer.choice}.")
    return [*facts, f"  fix: {text.fix(reproducer)}"]


def as_json(
    findings: list[Finding],
    passed: list[PassedOver],
    by_id: dict[str, Reproducer],
    measured: text.Measured,
    version: str | None,
) -> dict[str, Any]:
    """For scripts. A key is never removed, nor its meaning changed, without another `format`."""
    return {
        "format": 1,
        "torch": version,
        "findings": [
            {
                "path": one.path.as_posix(),
                "cell": one.cell or None,
                "line": one.line,
                "column": one.column,
                "end_line": one.end_line,
                "end_column": one.end_column,
                "id": one.id,
                "level": one.level,
                "what": one.what,
                "when": one.when,
                "fixable": bool(one.edits),
            }
            for one in findings
        ],
        "reproducers": {
            id: text.facts(by_id[id], measured, version)
            for id in sorted({one.id for one in findings})
        },
        "passed_over": [{"path": one.path.as_posix(), "why": one.why} for one in passed],
    }


def sarif(
    findings: list[Finding],
    passed: list[PassedOver],
    by_id: dict[str, Reproducer],
    measured: text.Measured,
    version: str | None,
) -> dict[str, Any]:
    ids = sorted({one.id for one in findings})
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "torch-repros",
                        "version": __version__,
                        "informationUri": HOME,
                        "rules": [_rule(by_id[id], measured, version) for id in ids],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, ids.index(one.id)) for one in findings],
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {
                                "level": "warning",
                                "message": {"text": f"passed over: {one.why}"},
                                "locations": [{"physicalLocation": _artifact(one.path)}],
                            }
                            for one in passed
                        ],
                    }
                ],
            }
        ],
    }


def _rule(reproducer: Reproducer, measured: text.Measured, version: str | None) -> dict[str, Any]:
    whole = "\n".join(about(reproducer, measured, version))
    return {
        "id": reproducer.id,
        "name": "".join(part.title() for part in reproducer.name.split("_")),
        "shortDescription": {"text": reproducer.title},
        "fullDescription": {"text": reproducer.doc},
        "help": {"text": whole, "markdown": f"```\n{whole}\n```"},
        "helpUri": f"{HOME}/blob/main/repros/{reproducer.id}.py",
        "defaultConfiguration": {"level": reproducer.rule},
        "properties": {"tags": ["pytorch", reproducer.family, reproducer.kind]},
    }


def _result(finding: Finding, index: int) -> dict[str, Any]:
    place = _artifact(finding.path)
    cell = f"cell {finding.cell}, line {finding.line}: " if finding.cell else ""
    if not finding.cell:  # lines of a notebook are not those of its file
        place["region"] = {
            "startLine": finding.line,
            "startColumn": finding.column,
            "endLine": finding.end_line,
            "endColumn": finding.end_column,
        }
    return {
        "ruleId": finding.id,
        "ruleIndex": index,
        "level": finding.level,
        "message": {"text": f"{cell}{sentence(finding)}"},
        "locations": [{"physicalLocation": place}],
    }


def _artifact(path: Path) -> dict[str, Any]:
    """Relative to the folder in which it was called, as code scanning wants it."""
    try:
        uri = quote(path.resolve().relative_to(Path.cwd().resolve()).as_posix())
    except ValueError:
        uri = path.resolve().as_uri()
    return {"artifactLocation": {"uri": uri}}


def github(findings: Iterable[Finding]) -> list[str]:
    """A workflow command per finding: GitHub shows it at its line."""
    commands = {"error": "error", "warning": "warning", "note": "notice"}
    assert commands.keys() == LEVELS.keys()
    found = []
    for one in findings:
        places = {"file": one.path.as_posix()}
        if not one.cell:
            places |= {
                "line": str(one.line),
                "endLine": str(one.end_line),
                "col": str(one.column),
                "title": one.id,
            }
        where = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in places.items())
        what = f"{f'cell {one.cell}, line {one.line}: ' if one.cell else ''}{sentence(one)}"
        found.append(f"::{commands[one.level]} {where}::{_escaped(what)} [{one.id}]")
    return found


def _escaped(value: str, also: str = "") -> str:
    for sign in "%\r\n" + also:
        value = value.replace(sign, f"%{ord(sign):02X}")
    return printable_line(value)
