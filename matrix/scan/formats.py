"""Formats findings as text, JSON, SARIF 2.1.0 and GitHub Actions workflow commands."""

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
    """The text of a finding, with its condition."""
    return f"{finding.what}{f' (when {finding.when})' if finding.when else ''}"


def lines(findings: list[Finding]) -> list[str]:
    """One line per finding, in a format that editors and problem matchers recognize."""
    return [
        printable_line(f"{finding.where}: {finding.level}: {sentence(finding)} [{finding.id}]")
        for finding in findings
    ]


def about(reproducer: Reproducer, measured: text.Measured, version: str | None) -> list[str]:
    """The facts about a failure: its measurements, code and fix."""
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
    """The findings for scripts. `format` changes if a key is removed or its meaning changes."""
    return {
        "format": 1,
        "torch": version,
        "findings": [
            {
                "path": finding.path.as_posix(),
                "cell": finding.cell or None,
                "line": finding.line,
                "column": finding.column,
                "end_line": finding.end_line,
                "end_column": finding.end_column,
                "id": finding.id,
                "level": finding.level,
                "what": finding.what,
                "when": finding.when,
                "fixable": bool(finding.edits),
            }
            for finding in findings
        ],
        "reproducers": {
            id: text.facts(by_id[id], measured, version)
            for id in sorted({finding.id for finding in findings})
        },
        "passed_over": [{"path": file.path.as_posix(), "why": file.why} for file in passed],
    }


def sarif(
    findings: list[Finding],
    passed: list[PassedOver],
    by_id: dict[str, Reproducer],
    measured: text.Measured,
    version: str | None,
) -> dict[str, Any]:
    ids = sorted({finding.id for finding in findings})
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
                "results": [_result(finding, ids.index(finding.id)) for finding in findings],
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {
                                "level": "warning",
                                "message": {"text": f"passed over: {file.why}"},
                                "locations": [{"physicalLocation": _artifact(file.path)}],
                            }
                            for file in passed
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
    if not finding.cell:  # line numbers in cells are not those of the notebook file
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
    """The location of a file relative to the current folder, as expected by code scanning."""
    try:
        uri = quote(path.resolve().relative_to(Path.cwd().resolve()).as_posix())
    except ValueError:
        uri = path.resolve().as_uri()
    return {"artifactLocation": {"uri": uri}}


def github(findings: Iterable[Finding]) -> list[str]:
    """One workflow command per finding. GitHub shows its message at the line of the finding."""
    commands = {"error": "error", "warning": "warning", "note": "notice"}
    assert commands.keys() == LEVELS.keys()
    messages = []
    for finding in findings:
        places = {"file": finding.path.as_posix()}
        if not finding.cell:
            places |= {
                "line": str(finding.line),
                "endLine": str(finding.end_line),
                "col": str(finding.column),
                "title": finding.id,
            }
        where = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in places.items())
        cell = f"cell {finding.cell}, line {finding.line}: " if finding.cell else ""
        what = _escaped(f"{cell}{sentence(finding)}")
        messages.append(f"::{commands[finding.level]} {where}::{what} [{finding.id}]")
    return messages


def _escaped(value: str, also: str = "") -> str:
    for sign in "%\r\n" + also:
        value = value.replace(sign, f"%{ord(sign):02X}")
    return printable_line(value)
