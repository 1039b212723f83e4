"""Checks the advice in a header against the code that is run and against recorded runs.

The lines under `right` must be consecutive statements of control() or right(). Every name in the
printed lines must be defined there or belong to the user's code, which `wrong` shows. A recorded
run must have raised a message for every pattern in `messages`, and for every alternative in a
pattern.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from itertools import pairwise

from .catalog import Reproducer
from .evidence.schema import Record
from .explain import wording

_EVERYWHERE = {*dir(builtins), "torch", "device"}  # every trainer has torch and device
_ROLES = ("control", "right")  # the roles that may contain the lines under `right`


# --- the lines ------------------------------------------------------------------------------------


def line_problems(reproducer: Reproducer) -> Iterator[str]:
    """Yields problems with the lines under `right` and `use`, and sizes in the messages."""
    if reproducer.is_current:
        yield from _lines(reproducer)
        yield from _sizes(reproducer)


def _lines(reproducer: Reproducer) -> Iterator[str]:
    def at(key: str, problem: str) -> str:
        return f"{reproducer.path}:{reproducer.line_of(key)}: {key}: {problem}"

    try:
        own = _names(ast.parse(reproducer.wrong))
    except SyntaxError:  # checks.py reports it
        return
    try:
        for key in ("right", "use"):
            if missing := sorted(_undefined(getattr(reproducer, key)) - own):
                yield at(
                    key, f"neither defined there nor shown under `wrong`: {', '.join(missing)}"
                )
        if reproducer.right and not stands_in(reproducer.right, reproducer.tree, _ROLES):
            yield at(
                "right", "neither control() nor right() contains its lines as they are printed"
            )
        if reproducer.fix_module and reproducer.fix_function not in _imported(
            reproducer.use, reproducer.fix_module
        ):
            line = f"from {reproducer.fix_module} import {reproducer.fix_function}"
            yield at("use" if reproducer.use else "fix", f"`use` has no `{line}`")
    except SyntaxError as error:
        yield at("right", f"not Python: {error.msg} on line {error.lineno}")
        return
    if reproducer.fix_module and reproducer.fix_function in _called(reproducer.right):
        yield at(
            "right", f"it calls {reproducer.fix_function}() of the fix: that is what `use` is for"
        )
    if reproducer.right and reproducer.use and not reproducer.choice:
        yield at("fix", "`choice` does not say whether to take `right` or the fix, and why")


def stands_in(lines: str, code: ast.Module, functions: tuple[str, ...]) -> bool:
    """True if these statements appear consecutively in the code that one of the functions runs."""
    return any(True for _ in standing(lines, code, functions))


def standing(lines: str, code: ast.Module, functions: tuple[str, ...]) -> Iterator[list[ast.stmt]]:
    """Yields the nodes of these statements for each place in the functions' code where the
    statements appear consecutively. Imports may be anywhere in the file.
    """
    statements = ast.parse(lines).body
    imports = [node for node in statements if isinstance(node, (ast.Import, ast.ImportFrom))]
    wanted = [ast.dump(node) for node in statements if node not in imports]
    imports_of_the_file = _imports(code)
    if any(not _imports(ast.Module([node], [])) <= imports_of_the_file for node in imports):
        return
    for block in _blocks(code, functions):
        for start in range(len(block) - len(wanted) + 1):
            nodes = block[start : start + len(wanted)]
            if [ast.dump(node) for node in nodes] == wanted:
                yield nodes


def _blocks(code: ast.Module, functions: tuple[str, ...]) -> Iterator[list[ast.stmt]]:
    """Yields the statement lists of these functions, and of the functions and classes they use."""
    defined = {
        node.name: node
        for node in code.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    waiting = [defined[name] for name in functions if name in defined]
    seen: list[ast.AST] = []
    while waiting:
        top = waiting.pop()
        seen.append(top)
        for node in ast.walk(top):
            for name in ("body", "orelse", "finalbody"):
                if isinstance(block := getattr(node, name, None), list):
                    yield block
            callee = defined.get(node.id) if isinstance(node, ast.Name) else None
            if callee is not None and callee not in seen and callee not in waiting:
                waiting.append(callee)


def _imports(code: ast.AST) -> set[tuple[str, str, str]]:
    """Returns (module, name, local name) for each import."""
    return {
        (getattr(node, "module", None) or "", alias.name, alias.asname or alias.name)
        for node in ast.walk(code)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }


def _imported(lines: str, module: str) -> set[str]:
    return {name for source, name, _ in _imports(ast.parse(lines)) if source == module}


def _names(code: ast.AST) -> set[str]:
    """Every name that the code uses or defines."""
    names = {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(code) if isinstance(node, ast.arg)}
    return names | _defined(code)


def _defined(code: ast.AST) -> set[str]:
    names = {alias.partition(".")[0] for _, _, alias in _imports(code)}
    for node in ast.walk(code):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)):
            names.add(node.name or "")
    return names


def _called(lines: str) -> set[str]:
    """The functions that the lines call by bare name."""
    calls = [node.func for node in ast.walk(ast.parse(lines)) if isinstance(node, ast.Call)]
    return {name.id for name in calls if isinstance(name, ast.Name)}


def _undefined(lines: str) -> set[str]:
    code = ast.parse(lines)
    return _names(code) - _defined(code) - _EVERYWHERE


# --- the messages ---------------------------------------------------------------------------------

# A number on its own, which is a size if it follows a match of _AFTER. The numbers in float16,
# conv2d, 3D, "Errno 24" and "2 or 3 dimensions" are not sizes.
_SIZE = re.compile(r"(?<![\w.])\d+(?=x\d|(?![\w.]*[A-Za-z]))")
_AFTER = re.compile(r"(?:tensor [ab]|[Ss]izes?|shapes?|dimension|index|[\[(,x]) ?[(\[]?$")


def message_problems(reproducers: list[Reproducer], records: list[Record]) -> list[str]:
    """Reports patterns that do not match any message of a recorded run."""
    problems = []
    for reproducer in filter(lambda reproducer: reproducer.is_current, reproducers):
        runs = [
            record.measurements[reproducer.id]
            for record in records
            if reproducer.id in record.measurements
        ]
        for pattern in reproducer.messages:
            at = f"{reproducer.path}:{reproducer.line_of('messages')}: messages: {pattern!r}"
            for alternative in alternatives(pattern):
                if not any(run.raised(alternative) for run in runs):
                    what = "it" if alternative == pattern else f"its alternative {alternative!r}"
                    todo = "let messages() raise it, or list it under `elsewhere`"
                    problems.append(f"{at}: no run on record raised {what}: {todo}")
    return problems


def _sizes(reproducer: Reproducer) -> Iterator[str]:
    for pattern in reproducer.texts:
        text = wording.readable(pattern)
        if sizes := [
            size[0] for size in _SIZE.finditer(text) if _AFTER.search(text[: size.start()])
        ]:
            at = f"{reproducer.path}:{reproducer.line_of('messages')}: messages: {pattern!r}"
            yield f"{at}: it contains a size of this file's tensors, {sizes[0]}: write \\d{{1,9}}"


def alternatives(pattern: str) -> list[str]:
    """One pattern for each alternative of each group, or the pattern itself if there are none."""
    groups = list(_groups(pattern))
    patterns = []
    for start, end, bars in groups:
        around = [group for group in groups if group[2] and group[0] <= start and end <= group[1]]
        for place in [start, *(bar + 1 for bar in bars)] if bars else []:
            removed: set[int] = set()
            for outer, last, ends in around:
                here = place if (outer, last) == (start, end) else start
                cuts = [outer - 1, *ends, last]
                left, right = next(cut for cut in pairwise(cuts) if cut[0] < here <= cut[1])
                removed |= {*range(outer, left + 1), *range(right, last)}
            patterns.append("".join(sign for at, sign in enumerate(pattern) if at not in removed))
    return list(dict.fromkeys(patterns)) or [pattern]


def _groups(pattern: str) -> Iterator[tuple[int, int, list[int]]]:
    """Yields (start, end, positions of `|`) for the pattern and each group that matches text."""
    open_: list[tuple[int, list[int], bool]] = [(0, [], True)]
    place, in_class = 0, False
    while place < len(pattern):
        sign = pattern[place]
        if sign == "\\":
            place += 1
        elif in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
            if pattern[place + 1 : place + 2] in ("]", "^"):
                place += 1
        elif sign == "(":
            kind = re.match(r"\(\?(?:<?[=!]|:|P?<\w+>)", pattern[place:])
            inside = place + (len(kind[0]) if kind else 1)
            open_.append((inside, [], not (kind and kind[0][-1] in "=!")))
            place = inside - 1
        elif sign == "|":
            open_[-1][1].append(place)
        elif sign == ")":
            start, bars, matches = open_.pop()
            if matches:
                yield start, place, bars
        place += 1
    yield open_[0][0], len(pattern), open_[0][1]
