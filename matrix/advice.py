"""What a header tells people, held against the code that runs it.

`right` stands verbatim in control() or right(), and every name in what is printed is either defined
there or one of the user's own, which `wrong` shows. Every pattern of `messages`, and every
alternative in one, was raised in a run that is on record.
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

_EVERYWHERE = {*dir(builtins), "torch", "device"}  # every trainer has these two
_ROLES = ("control", "right")  # that may hold the lines under `right`


def problems(reproducers: list[Reproducer], records: list[Record]) -> list[str]:
    live = [one for one in reproducers if one.is_current]
    return [problem for one in live for problem in (*_lines(one), *_messages(one, records))]


# --- the lines ------------------------------------------------------------------------------------


def _lines(one: Reproducer) -> Iterator[str]:
    def at(key: str, problem: str) -> str:
        return f"{one.path}:{one.line_of(key)}: {key}: {problem}"

    try:
        own = _names(ast.parse(one.wrong))
    except SyntaxError:  # which the check of that key names
        return
    try:
        for key in ("right", "use"):
            if missing := sorted(_undefined(getattr(one, key)) - own):
                yield at(
                    key, f"neither defined there nor shown under `wrong`: {', '.join(missing)}"
                )
        if one.right and not stands_in(one.right, one.tree, _ROLES):
            yield at("right", "its lines do not stand in control() or right() as they are printed")
        if one.fix_module and one.fix_function not in _imported(one.use, one.fix_module):
            line = f"from {one.fix_module} import {one.fix_function}"
            yield at("use" if one.use else "fix", f"`use` has no `{line}`")
    except SyntaxError as error:
        yield at("right", f"not Python: {error.msg} in line {error.lineno}")
        return
    if one.fix_module and one.fix_function in _called(one.right):
        yield at("right", f"it calls {one.fix_function}() of the fix: that is what `use` is for")
    if one.right and one.use and not one.choice:
        yield at("fix", "`choice` does not say whether to take `right` or the fix, and why")


def stands_in(lines: str, code: ast.Module, functions: tuple[str, ...]) -> bool:
    """Whether these statements follow one another in the code that one of the functions runs."""
    return any(True for _ in standing(lines, code, functions))


def standing(lines: str, code: ast.Module, functions: tuple[str, ...]) -> Iterator[list[ast.stmt]]:
    """The statements, wherever they follow one another in the code that the functions run.

    Imports may stand apart, where the file has its own.
    """
    statements = ast.parse(lines).body
    imports = [node for node in statements if isinstance(node, (ast.Import, ast.ImportFrom))]
    wanted = [ast.dump(node) for node in statements if node not in imports]
    there = _imports(code)
    if any(not _imports(ast.Module([node], [])) <= there for node in imports):
        return
    for block in _blocks(code, functions):
        for start in range(len(block) - len(wanted) + 1):
            nodes = block[start : start + len(wanted)]
            if [ast.dump(node) for node in nodes] == wanted:
                yield nodes


def _blocks(code: ast.Module, functions: tuple[str, ...]) -> Iterator[list[ast.stmt]]:
    """The lists of statements in these functions, and in what they call of the file."""
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
    """(module, name, the name it gets) of everything that is imported."""
    return {
        (getattr(node, "module", None) or "", alias.name, alias.asname or alias.name)
        for node in ast.walk(code)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }


def _imported(lines: str, module: str) -> set[str]:
    return {name for source, name, _ in _imports(ast.parse(lines)) if source == module}


def _names(code: ast.AST) -> set[str]:
    """Every name in it."""
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
    """The functions that are called by their bare names."""
    calls = [node.func for node in ast.walk(ast.parse(lines)) if isinstance(node, ast.Call)]
    return {name.id for name in calls if isinstance(name, ast.Name)}


def _undefined(lines: str) -> set[str]:
    code = ast.parse(lines)
    return _names(code) - _defined(code) - _EVERYWHERE


# --- the messages ---------------------------------------------------------------------------------

# A number that belongs to the words, such as float16, conv2d, 3D, Errno 24 or "2 or 3 dimensions".
_SIZE = re.compile(r"(?<![\w.])\d+(?=x\d|(?![\w.]*[A-Za-z]))")
_AFTER = re.compile(r"(?:tensor [ab]|[Ss]izes?|shapes?|dimension|index|[\[(,x]) ?[(\[]?$")


def _messages(one: Reproducer, records: list[Record]) -> Iterator[str]:
    runs = [record.measurements[one.id] for record in records if one.id in record.measurements]
    for pattern in one.messages:
        at = f"{one.path}:{one.line_of('messages')}: messages: {pattern!r}"
        never = [
            each for each in alternatives(pattern) if not any(run.raised(each) for run in runs)
        ]
        for each in never:
            what = "it" if each == pattern else f"its alternative {each!r}"
            todo = "let messages() raise it, or list it under `elsewhere`"
            yield f"{at}: no run on record raised {what}: {todo}"
    for pattern in one.texts:
        text = wording.readable(pattern)
        if held := [
            size[0] for size in _SIZE.finditer(text) if _AFTER.search(text[: size.start()])
        ]:
            at = f"{one.path}:{one.line_of('messages')}: messages: {pattern!r}"
            yield f"{at}: it holds a size of the file's own, {held[0]}: write \\d{{1,9}}"


def alternatives(pattern: str) -> list[str]:
    """The pattern with each alternative of each of its groups alone; itself where it has none."""
    groups = list(_groups(pattern))
    found = []
    for start, end, bars in groups:
        around = [group for group in groups if group[2] and group[0] <= start and end <= group[1]]
        for place in [start, *(bar + 1 for bar in bars)] if bars else []:
            gone: set[int] = set()
            for outer, last, ends in around:
                here = place if (outer, last) == (start, end) else start
                cuts = [outer - 1, *ends, last]
                left, right = next(cut for cut in pairwise(cuts) if cut[0] < here <= cut[1])
                gone |= {*range(outer, left + 1), *range(right, last)}
            found.append("".join(sign for at, sign in enumerate(pattern) if at not in gone))
    return list(dict.fromkeys(found)) or [pattern]


def _groups(pattern: str) -> Iterator[tuple[int, int, list[int]]]:
    """(start, end, places of `|`) of the whole and of each group that matches something."""
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
