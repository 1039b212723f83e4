"""Runs the rules on files."""

from __future__ import annotations

import ast
import importlib
import io
import os
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..catalog import Reproducer, ruled
from . import files
from .code import Code, Edit, Hit, TooLong, edited, end, place

SECONDS = 10.0  # of CPU that the rules may take for one file
LONGEST = 14_000  # bits of an integer; Python writes none of more than 4300 digits
FEW = 40  # files that are read faster than processes are started
_TORCH = re.compile(r"torch|lightning|accelerat", re.IGNORECASE)
_LINE = re.compile(r"\bline (\d{1,9})\b")  # of what a rule says
_IGNORE = re.compile(r"#\s*torch-repros:\s*ignore\b(?:\s*\[([^\]]*)\])?")


class Rule(NamedTuple):
    id: str
    level: str
    when: str


@dataclass(frozen=True, order=True)
class Finding:
    """One place in one file."""

    path: Path
    line: int  # from 1; of a notebook in its cell
    column: int  # in characters, from 1
    id: str
    level: str  # error, warning or note
    what: str
    when: str  # the condition; "" where there is none
    end_line: int
    end_column: int
    cell: int = 0  # of a notebook, from 1
    edits: tuple[Edit, ...] = ()

    @property
    def where(self) -> str:
        cell = f"cell {self.cell}:" if self.cell else ""
        return f"{self.path}:{cell}{self.line}:{self.column}"


class PassedOver(NamedTuple):
    path: Path
    why: str


class RuleError(Exception):
    """A rule that failed: a fault of ours, which costs one file and not the others."""


Result = tuple[Path, "list[Finding]", str]  # of a file; why it, or a part, was passed over


def rules(reproducers: Iterable[Reproducer]) -> list[Rule]:
    return [Rule(one.id, one.rule, one.when) for one in ruled(reproducers)]


def scan(
    paths: Iterable[Path],
    those: list[Rule],
    jobs: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[list[Finding], list[PassedOver]]:
    """The findings in these files, by path and line, and the files that were passed over.

    jobs: processes; 0 for one per core where there are many files.
    """
    found: list[Finding] = []
    passed: list[PassedOver] = []
    for done, (path, findings, why) in enumerate(_results(list(paths), those, jobs), 1):
        found += findings
        if why:
            passed.append(PassedOver(path, why))
        progress(done)
    return sorted(found), sorted(passed)


def _results(paths: list[Path], those: list[Rule], jobs: int) -> Iterator[Result]:
    jobs = jobs or (os.cpu_count() or 1 if len(paths) > FEW else 1)
    if jobs == 1:
        yield from (scan_file(path, those) for path in paths)
        return
    pool = ProcessPoolExecutor(jobs)
    try:
        size = max(1, min(8, len(paths) // (4 * jobs)))  # Ctrl-C waits for those that are begun
        yield from pool.map(scan_file, paths, [those] * len(paths), chunksize=size)
    finally:  # also after Ctrl-C: what waits is not begun
        pool.shutdown(cancel_futures=True)


def scan_file(path: Path, those: list[Rule]) -> Result:
    for rule in those:
        function(rule.id)  # first: a SyntaxError of ours must not be taken for one of the file
    try:
        text, cells, odd = files.read(path)
        if not _TORCH.search(text):
            return path, [], ""
        why = f"not Python: cell {', '.join(map(str, odd))}" if odd else ""
        return path, scan_text(text, those, path, cells), why
    except files.Unreadable as error:
        return path, [], str(error)
    except SyntaxError as error:
        return path, [], f"not Python: {error.msg} (line {error.lineno})"
    except ValueError:
        return path, [], "not text: it has half of a surrogate pair"
    except (RecursionError, MemoryError):
        return path, [], "nested too deeply"
    except TooLong:
        return path, [], f"takes the rules more than {SECONDS:g} s"
    except RuleError as error:
        return path, [], f"{error}: please report it"


def scan_text(
    text: str, those: list[Rule], path: Path = Path("-"), cells: list[files.Cell] | None = None
) -> list[Finding]:
    """Raises what ast.parse() raises, Unreadable, TooLong and RuleError."""
    tree = files.parsed(text)
    likely = [rule for rule in those if _has_words(text, function(rule.id))]
    if not likely:
        return []
    code = Code(tree, text, SECONDS)
    numbers = (getattr(one, "value", None) for one in code.nodes.get(ast.Constant, ()))
    if any(isinstance(one, int) and one.bit_length() > LONGEST for one in numbers):
        raise files.Unreadable("it has a number that is too long to be written")
    lines, silenced = text.split("\n"), _silenced(text)
    found: dict[tuple[str, int, int], Finding] = {}
    for rule in likely:
        for hit in _hits(rule, code):
            if not _ignored(code, hit, rule.id, silenced):
                if hit.edits and not files.is_python(edited(text, hit.edits)):
                    hit = hit._replace(edits=())  # of what stands in parentheses, for one
                finding = _finding(hit, rule, path, lines, cells or [])
                found.setdefault((rule.id, finding.line, finding.cell), finding)
    return list(found.values())


@cache
def function(id: str) -> Callable[[Code], Iterator[Hit]]:
    """The rule of a reproducer. Raises ModuleNotFoundError if it has no file."""
    module = importlib.import_module(f".rules.{id.replace('/', '.')}", __package__)
    return getattr(module, id.partition("/")[2])  # type: ignore[no-any-return]


def _hits(rule: Rule, code: Code) -> list[Hit]:
    try:
        return list(function(rule.id)(code))
    except (RecursionError, MemoryError, TooLong):
        raise
    except Exception as error:
        raise RuleError(f"the rule {rule.id} failed: {type(error).__name__}: {error}") from error


def _has_words(text: str, rule: Callable[[Code], Iterator[Hit]]) -> bool:
    """Whether the text has one of each group of words that the rule needs."""
    groups: list[list[str]] = getattr(rule, "words", [])
    return all(any(word in text for word in group) for group in groups)


def _finding(
    hit: Hit, rule: Rule, path: Path, lines: list[str], cells: list[files.Cell]
) -> Finding:
    (line, column), (end_line, end_column) = place(hit.node), end(hit.node)
    column, end_column = _characters(lines, line, column), _characters(lines, end_line, end_column)
    cell = cells[line - 1] if cells else files.Cell(0, line)
    what = _LINE.sub(lambda one: _in_its_cell(one, cells), hit.what) if cells else hit.what
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
    )


def _in_its_cell(found: re.Match[str], cells: list[files.Cell]) -> str:
    number = int(found[1])
    if not 0 < number <= len(cells):
        return found[0]
    return f"line {cells[number - 1].line} of cell {cells[number - 1].number}"


def _characters(lines: list[str], line: int, column: int) -> int:
    """A column in bytes of UTF-8, as ast counts, in characters."""
    text = lines[line - 1] if line <= len(lines) else ""
    return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))


def _silenced(text: str) -> dict[int, list[str]]:
    """The ids and families that a comment silences, by line; all where it names none."""
    if "torch-repros:" not in text:
        return {}
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and (comment := _IGNORE.search(token.string)):
            named = comment[1]
            found[token.start[0]] = [] if named is None else re.split(r"[\s,]+", named.strip())
    return found


def _ignored(code: Code, hit: Hit, id: str, silenced: dict[int, list[str]]) -> bool:
    """Whether a comment at the place, or at the first line of its statement, says so."""
    node = hit.node if isinstance(hit.node, ast.AST) else code.tree
    places = {place(node)[0], end(node)[0]}
    if node in code.parent:
        places.add(place(code.statement(node))[0])
    family = id.partition("/")[0]
    return any(
        not silenced[line] or {id, family} & set(silenced[line])
        for line in places & silenced.keys()
    )
