"""Runs rules on files."""

from __future__ import annotations

import ast
import importlib
import io
import os
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..catalog import Reproducer, ruled
from . import files
from .code import Code, Edit, Hit, TooLong, end, place
from .project import code_of
from .training import DEFINITIONS

SECONDS = 10.0  # CPU time that the rules may use for one file
LONGEST = 14_000  # maximum bits of an integer, because Python does not print more than 4300 digits
FEW = 40  # reading up to this many files is faster than starting processes
CRASHES = sys.version_info < (3, 11)  # Python crashes on code that is nested too deeply
_TORCH = re.compile(r"torch|lightning|accelerat|--local_rank", re.IGNORECASE)
_LINE = re.compile(r"\bline (\d{1,9})\b")  # in the text of a finding
_IGNORE = re.compile(r"#\s*torch-repros:\s*ignore\b(?:\s*\[([^\]]*)\])?")


class Rule(NamedTuple):
    id: str
    level: str
    when: str


@dataclass(frozen=True, order=True)
class Finding:
    """A place in a file that a rule found."""

    path: Path
    line: int  # from 1; in a notebook, from the start of the cell
    column: int  # in characters, starting at 1
    id: str
    level: str  # error, warning or note
    what: str
    when: str  # the condition, or ""
    end_line: int
    end_column: int
    cell: int = 0  # the number of the cell in a notebook, from 1
    edits: tuple[Edit, ...] = ()
    source: str = ""  # the source lines
    scope: str = ""  # the enclosing classes and functions, such as "Trainer.step"

    @property
    def where(self) -> str:
        cell = f"cell {self.cell}:" if self.cell else ""
        return f"{self.path}:{cell}{self.line}:{self.column}"


class PassedOver(NamedTuple):
    path: Path
    why: str


class RuleError(Exception):
    """A rule crashed, which is a bug in this project. The scan continues with the next file."""


Result = tuple[Path, "list[Finding]", str]  # file, findings, and why (part of) it was skipped


def rules(reproducers: Iterable[Reproducer]) -> list[Rule]:
    return [
        Rule(reproducer.id, reproducer.rule, reproducer.when) for reproducer in ruled(reproducers)
    ]


def scan(
    paths: Iterable[Path],
    rules: list[Rule],
    jobs: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[list[Finding], list[PassedOver]]:
    """Returns the findings in these files, sorted by path and line, and the skipped files.

    jobs: the number of processes. With 0, one per core is started if there are many files.
    """
    findings: list[Finding] = []
    passed: list[PassedOver] = []
    for done, (path, own, why) in enumerate(_results(list(paths), rules, jobs), 1):
        findings += own
        if why:
            passed.append(PassedOver(path, why))
        progress(done)
    return sorted(findings), sorted(passed)


def _results(paths: list[Path], rules: list[Rule], jobs: int) -> Iterator[Result]:
    """Yields the result for each file, in order. If a process crashes, only its current file is
    lost.

    To identify that file, the remaining files are read one by one until a process crashes again.
    """
    jobs = jobs or (os.cpu_count() or 1 if len(paths) > FEW else 1)
    if jobs == 1 and not CRASHES:
        yield from (scan_file(path, rules) for path in paths)
        return
    processes = jobs
    while paths:
        done = 0
        try:
            for result in _by_processes(paths, rules, processes):
                yield result
                done += 1
            return
        except BrokenProcessPool:
            paths = paths[done:]
            if processes == 1:
                yield paths.pop(0), [], "the process reading it crashed"
            processes = jobs if processes == 1 else 1


def _by_processes(paths: list[Path], rules: list[Rule], processes: int) -> Iterator[Result]:
    pool = ProcessPoolExecutor(processes)
    try:
        # Ctrl-C waits for running chunks. With one process, a crash identifies the file.
        size = 1 if processes == 1 else max(1, min(8, len(paths) // (4 * processes)))
        yield from pool.map(scan_file, paths, [rules] * len(paths), chunksize=size)
    finally:  # after Ctrl-C, no more files are started
        pool.shutdown(cancel_futures=True)


def scan_file(path: Path, rules: list[Rule]) -> Result:
    for rule in rules:
        function(rule.id)  # called first, so that a SyntaxError in a rule is not blamed on the file
    findings: list[Finding] = []
    try:
        text, cells, odd = files.read(path)
        if not _TORCH.search(text):
            if not cells:
                files.parsed(text)
            return path, [], ""
        for finding in _findings(text, rules, path, cells):
            findings.append(finding)  # one by one, to keep the findings before an exception
        why = f"not Python: cell {', '.join(map(str, odd))}" if odd else ""
        why = "; ".join(filter(None, [why, _unknown(text, cells)]))
    except files.Unreadable as error:
        why = str(error)
    except SyntaxError as error:
        why = f"not Python: {error.msg} (line {error.lineno})"
    except ValueError:
        why = "not text: it has half of a surrogate pair"
    except (RecursionError, MemoryError):
        why = "nested too deeply"
    except TooLong:
        why = f"checking it took more than {SECONDS:g} s; only the findings until then are shown"
    except RuleError as error:
        why = f"{error}: please report it"
    return path, findings, why


def scan_text(text: str, rules: list[Rule], path: Path = Path("-")) -> list[Finding]:
    """Returns the findings in this code.

    Raises Unreadable, TooLong, RuleError, or the same exceptions as ast.parse().
    """
    return list(_findings(text, rules, path, []))


def _findings(
    text: str, rules: list[Rule], path: Path, cells: list[files.Cell]
) -> Iterator[Finding]:
    """Yields the findings for scan_text(). `cells` contains the cell of each line in a notebook."""
    likely = [rule for rule in rules if _has_words(text, function(rule.id))]
    if not likely:
        files.parsed(text)
        return
    code = code_of(path, text)
    numbers = (getattr(node, "value", None) for node in code.all(ast.Constant))
    if any(isinstance(number, int) and number.bit_length() > LONGEST for number in numbers):
        raise files.Unreadable("it contains a number that is too long to print")
    silenced = _silenced(text)
    with code.limited(SECONDS):
        for rule in likely:
            places: set[tuple[int, int]] = set()  # a rule reports at most one finding per line
            for hit in _hits(rule, code):
                if _ignored(code, hit, rule.id, silenced):
                    continue
                if hit.edits and not code.stays_python(hit.edits):
                    hit = hit._replace(edits=())  # for example, inside parentheses
                finding = _finding(hit, rule, path, code, cells)
                if (finding.cell, finding.line) not in places:
                    places.add((finding.cell, finding.line))
                    yield finding


@cache
def function(id: str) -> Callable[[Code], Iterator[Hit]]:
    """The rule for a reproducer. Raises ModuleNotFoundError if the rule has no file."""
    module = importlib.import_module(f".rules.{id.replace('/', '.')}", __package__)
    return getattr(module, id.partition("/")[2])  # type: ignore[no-any-return]


def _hits(rule: Rule, code: Code) -> Iterator[Hit]:
    try:
        yield from function(rule.id)(code)
    except (RecursionError, MemoryError, TooLong):
        raise
    except Exception as error:
        raise RuleError(f"the rule {rule.id} failed: {type(error).__name__}: {error}") from error


def _has_words(text: str, rule: Callable[[Code], Iterator[Hit]]) -> bool:
    """True if the text contains a word from each group that the rule needs."""
    groups: list[list[str]] = getattr(rule, "words", [])
    return all(any(word in text for word in group) for group in groups)


def _finding(hit: Hit, rule: Rule, path: Path, code: Code, cells: list[files.Cell]) -> Finding:
    lines = code.lines
    scopes = [node.name for node in code.ancestors(hit.node) if isinstance(node, DEFINITIONS)]
    (line, column), (end_line, end_column) = place(hit.node), end(hit.node)
    column, end_column = _characters(lines, line, column), _characters(lines, end_line, end_column)
    cell = cells[line - 1] if cells else files.Cell(0, line)
    what = _LINE.sub(lambda match: _in_its_cell(match, cells), hit.what) if cells else hit.what
    return Finding(
        path,
        cell.line,
        column + 1,
        rule.id,
        rule.level,
        what,
        rule.when,
        cell.line + end_line - line,
        end_column + 1,
        cell.number,
        hit.edits if not cells else (),
        "\n".join(lines[line - 1 : end_line]),
        ".".join(reversed(scopes)),
    )


def _in_its_cell(match: re.Match[str], cells: list[files.Cell]) -> str:
    number = int(match[1])
    if not 0 < number <= len(cells):
        return match[0]
    return f"line {cells[number - 1].line} of cell {cells[number - 1].number}"


def _characters(lines: list[str], line: int, column: int) -> int:
    """Converts a column from UTF-8 bytes, which ast counts, to characters."""
    text = lines[line - 1] if line <= len(lines) else ""
    return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))


def _silenced(text: str) -> dict[int, set[str | None]]:
    """Maps each line to the ids and families that comments silence there. None silences all."""
    if "torch-repros:" not in text:
        return {}
    silenced: dict[int, set[str | None]] = defaultdict(set)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        for comment in _IGNORE.finditer(token.string) if token.type == tokenize.COMMENT else ():
            names = [None] if comment[1] is None else re.split(r"[\s,]+", comment[1].strip())
            silenced[token.start[0]].update(names)
    return silenced


def _unknown(text: str, cells: list[files.Cell]) -> str:
    """Describes the unknown names in ignore comments, or returns ""."""
    unknown = []
    for line, names in _silenced(text).items():
        at = _LINE.sub(lambda match: _in_its_cell(match, cells), f"line {line}")
        for name in sorted({name for name in names if name} - _names()):
            unknown.append(f"unknown rule or family {name!r} in an ignore comment ({at})")
    return "; ".join(unknown)


@cache
def _names() -> set[str]:
    """The ids and families of all rules."""
    paths = Path(__file__).with_name("rules").glob("*/*.py")
    return {
        name for path in paths for name in (path.parent.name, f"{path.parent.name}/{path.stem}")
    }


def _ignored(code: Code, hit: Hit, id: str, silenced: dict[int, set[str | None]]) -> bool:
    """True if an ignore comment at the hit, or at the start of its statement, names the rule."""
    node = hit.node if isinstance(hit.node, ast.AST) else code.tree
    lines = {place(node)[0], end(node)[0]}
    if node in code.parent:
        lines.add(place(code.statement(node))[0])
    names = {None, id, id.partition("/")[0]}
    return any(names & silenced[line] for line in lines & silenced.keys())
