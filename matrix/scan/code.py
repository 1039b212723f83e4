"""Represents a Python file for the rules: calls by name, scopes, and the values of names. Nothing
is imported or run. A name is traced to its assignments in the function, in the class (`self.x`) or
in the module. project.py follows the names of classes and functions into other files.
"""

from __future__ import annotations

import ast
import math
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from operator import itemgetter
from pathlib import Path
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

from . import files

# The usual meanings of names that a file does not define (fragments, or `from utils import *`).
USUAL = {
    "F": "torch.nn.functional",
    "nn": "torch.nn",
    "optim": "torch.optim",
    "np": "numpy",
}
N = TypeVar("N", bound=ast.AST)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (*FUNCTIONS, ast.Module)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


class Edit(NamedTuple):
    """A replacement for a part of a file."""

    line: int  # from 1
    column: int  # in bytes of UTF-8, from 0, as in ast
    end_line: int
    end_column: int
    text: str


class Hit(NamedTuple):
    """A place that a rule found."""

    node: ast.AST
    what: str  # what happens, as a clause without a period, with the user's own names
    edits: tuple[Edit, ...] = ()  # edits that are certain to fix the problem


Question = ParamSpec("Question")
Answer = TypeVar("Answer")


def remembered(
    helper: Callable[Concatenate[Code, Question], Answer],
) -> Callable[Concatenate[Code, Question], Answer]:
    """Caches the results of a helper that traverses large parts of a file and is called often."""

    @wraps(helper)
    def answer(code: Code, /, *question: Question.args, **empty: Question.kwargs) -> Answer:
        key = (helper, *question)
        if key not in code.known:
            code.known[key] = helper(code, *question, **empty)
        return code.known[key]  # type: ignore[return-value]

    return answer


class Origin(NamedTuple):
    """The place that a name was imported from."""

    level: int  # the number of dots of a relative import
    module: str
    name: str  # "" for `import module`


class TooLong(Exception):
    """The rules exceeded their time limit, usually because of generated or malicious code."""


class Code:
    """A parsed file."""

    def __init__(self, tree: ast.Module, text: str, path: Path | None = None) -> None:
        self.tree, self.text, self.lines = tree, text, text.split("\n")
        self.path = path  # the file, whose imports may be followed
        self.origins: dict[str, Origin] = {}  # name in this file -> where it was imported from
        self.stars: list[tuple[str, int]] = []  # (module, level) of each `from module import *`
        self._until = math.inf  # the CPU time after which the methods raise TooLong
        self._within: dict[tuple[ast.AST, object], list[ast.AST]] = {}
        self.parent: dict[ast.AST, ast.AST] = {}
        self.calls: dict[str, list[ast.Call]] = {}  # last part of the name -> calls in order
        self._nodes: dict[type[ast.AST], list[ast.AST]] = {}
        self._statements: list[ast.AST] = []  # in source order
        self._imported: dict[str, str] = {}  # name in this file -> its full dotted name
        self._bound: set[str] = set()  # names that this file defines or imports
        self._outer: dict[tuple[ast.AST, str], ast.AST] = {}  # scope of a `global` or `nonlocal`
        self._shared: set[tuple[ast.AST, str]] = set()  # names that inner functions may assign
        self.known: dict[object, object] = {}  # cached results, by helper and arguments
        # (scope, name) -> (place, value) of each assignment; None stands for an unknown value
        self._assigned: dict[tuple[ast.AST, str], list[tuple[tuple[int, int], ast.expr | None]]]
        self._assigned = {}
        self._index()

    @classmethod
    def of(cls, text: str) -> Code:
        """Parses a text. Raises the same exceptions as ast.parse()."""
        return cls(ast.parse(text), text)

    def all(self, kind: type[N]) -> list[N]:
        """The nodes of this type, in source order."""
        return self._nodes.get(kind, [])  # type: ignore[return-value]

    # --- places -----------------------------------------------------------------------------------

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The ancestors of a node, from its parent to the module."""
        while node in self.parent:
            node = self.parent[node]
            yield node

    def scope(self, node: ast.AST) -> ast.AST:
        """The innermost function around the node, or the module."""
        return next(
            (above for above in self.ancestors(node) if isinstance(above, SCOPES)), self.tree
        )

    def parent_scope(self, node: ast.AST) -> ast.AST:
        """The innermost function or class around the node, or the module."""
        kinds = (*SCOPES, ast.ClassDef)
        return next(
            (above for above in self.ancestors(node) if isinstance(above, kinds)), self.tree
        )

    def function(self, node: ast.AST) -> ast.AST:
        """The innermost def around the node, or the module. Unlike scope(), this skips lambdas."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
        return next(
            (above for above in self.ancestors(node) if isinstance(above, kinds)), self.tree
        )

    def owner(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around the node."""
        return next(
            (above for above in self.ancestors(node) if isinstance(above, ast.ClassDef)), None
        )

    def loops(self, node: ast.AST) -> list[ast.For | ast.AsyncFor | ast.While]:
        """The loops in the same function that repeat the node, innermost first."""
        loops: list[ast.For | ast.AsyncFor | ast.While] = []
        inner: ast.AST = node
        for above in self.ancestors(node):
            if isinstance(above, SCOPES):
                break
            if isinstance(above, LOOPS) and any(inner is part for part in above.body):
                loops.append(above)
            inner = above
        return loops

    def statement(self, node: ast.AST) -> ast.stmt:
        """The node itself if it is a statement, or else the innermost statement around it."""
        while not isinstance(node, ast.stmt):
            node = self.parent[node]
        return node

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements in the block of a statement, including the statement itself."""
        above = self.parent[statement]
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(above, name, None)
            if isinstance(block, list) and any(statement is other for other in block):
                return block
        return [statement]

    def excludes(self, first: ast.AST, other: ast.AST) -> bool:
        """True if only one of the nodes runs.

        The nodes are in different branches of an `if`, or of two with the same test.
        """
        self._check_time()
        ours = self._branches(first)
        return any(
            branch != ours[own] and self._agree(own, test)
            for test, branch in self._branches(other).items()
            for own in ours
        )

    def _branches(self, node: ast.AST) -> dict[ast.expr, str]:
        """The test of each `if` statement around the node -> the branch that contains the node."""
        branches, inner = {}, node
        for above in self.ancestors(node):
            if isinstance(above, ast.If):
                is_else = any(inner is part for part in above.orelse)
                branches[above.test] = "orelse" if is_else else "body"
            inner = above
        return branches

    def _agree(self, first: ast.expr, other: ast.expr) -> bool:
        """True if the tests have the same result: nothing in between changes what they read."""
        if first is other:
            return True
        if type(first) is not type(other) or self.function(first) is not self.function(other):
            return False
        if ast.dump(first) != ast.dump(other) or not self._is_stable(first):
            return False
        between = sorted((place(first), place(other)))
        return not any(
            between[0] < at < between[1]
            for name in {path(part) for part in ast.walk(first)} - {""}
            for scope in (self.scope(first), self.owner(first))
            for at, _ in self._assigned.get((scope, name), ())  # type: ignore[arg-type]
        )

    def _is_stable(self, test: ast.expr) -> bool:
        """True if the test calls nothing that may answer differently the second time."""
        return all(
            path(part.func) in ("isinstance", "hasattr", "len", "callable")
            for part in ast.walk(test)
            if isinstance(part, ast.Call)
        )

    def conditions(self, node: ast.AST) -> list[ast.expr]:
        """The tests of the `if` statements in the same function whose body contains the node,
        innermost first.
        """
        tests: list[ast.expr] = []
        inner = node
        for above in self.ancestors(node):
            if isinstance(above, (*FUNCTIONS, ast.ClassDef)):
                break
            if isinstance(above, ast.If) and any(inner is part for part in above.body):
                tests.append(above.test)
            inner = above
        return tests

    def within(self, node: ast.AST, kinds: type[ast.AST] | tuple[type[ast.AST], ...]) -> list:  # type: ignore[type-arg]
        """The nodes of these kinds in a node, including the node itself, in source order.

        The contents of inner functions and classes are omitted.
        """
        self._check_time()
        if (node, kinds) in self._within:
            return self._within[node, kinds]
        parts, stack = [], [node]
        while stack:
            part = stack.pop()
            if isinstance(part, kinds):
                parts.append(part)
            if part is node or not isinstance(part, (*FUNCTIONS, ast.ClassDef)):
                stack.extend(ast.iter_child_nodes(part))
        return self._within.setdefault((node, kinds), sorted(parts, key=place))

    def stays_python(self, edits: tuple[Edit, ...]) -> bool:
        """True if the file is still valid Python after these edits.

        To save time, only the smallest enclosing statement that can be parsed on its own is checked
        (unlike an `elif`, for example).
        """
        self._check_time()
        start, stop = min(edit[:2] for edit in edits), max(edit[2:4] for edit in edits)
        before = bisect_right(self._statements, start, key=place)
        node = self._statements[before - 1] if before else self.tree
        while node is not self.tree:
            if isinstance(node, ast.stmt) and stop <= end(node):
                first, last = node.lineno - 1, end(node)[0]
                header = "if True:" if self.lines[first][:1].isspace() else ""
                text = "\n".join([header, *self.lines[first:last]])
                own = [
                    edit._replace(line=edit.line - first + 1, end_line=edit.end_line - first + 1)
                    for edit in edits
                ]
                if files.is_python(text):
                    return files.is_python(edited(text, own))
            node = self.parent[node]
        return files.is_python(edited(self.text, edits))

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Makes the methods raise TooLong if the block takes more than `seconds` of CPU time."""
        self._until = time.process_time() + seconds
        try:
            yield
        finally:
            self._until = math.inf

    def _check_time(self) -> None:
        if time.process_time() > self._until:
            raise TooLong

    @remembered
    def calls_in(self, node: ast.AST, *names: str) -> list[ast.Call]:
        """The calls in a node, except in inner functions. `names` restricts their last names."""
        return [
            call
            for call in self.within(node, ast.Call)
            if not names or last_name(call.func) in names
        ]

    # --- names and values -------------------------------------------------------------------------

    def full(self, node: ast.AST) -> str:
        """The dotted name with imports resolved, such as "torch.nn.functional.softmax" for
        F.softmax.

        Returns ".eval" for a method of an expression that is not a name, and "" for other nodes.
        """
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return "." + ".".join(reversed(parts)) if parts else ""
        first = self._imported.get(node.id)
        if first is None:
            keeps_its_name = node.id in self._bound or not parts
            first = node.id if keeps_its_name else USUAL.get(node.id, node.id)
        return ".".join([first, *reversed(parts)])

    def is_imported(self, node: ast.AST) -> bool:
        """True for an imported name and for its attributes."""
        return path(node).partition(".")[0] in self._imported

    def torch(self, node: ast.AST) -> str:
        """The last part of a name from torch ("softmax" for F.softmax), or "".

        Bare names that the file neither imports nor defines count as names from torch, because the
        file may be a fragment or may use `import *`.
        """
        name = self.full(node)
        if name.startswith("torch."):
            return name.rpartition(".")[2]
        return name if "." not in name and name not in self._bound else ""

    def method(self, call: ast.Call) -> str:
        """The method called on an object ("softmax" for x.softmax(1)), or ""."""
        if isinstance(call.func, ast.Attribute) and not self.full(call.func).startswith("torch."):
            return call.func.attr
        return ""

    def value(self, node: ast.AST | None) -> ast.AST | None:
        """The expression that a name refers to at this place, or None if it is unknown.

        An expression that is not a name is returned unchanged.
        """
        self._check_time()
        name = path(node) if node is not None else ""
        if not name or node is None:
            return node
        first, _, rest = name.partition(".")
        if first == "self" and rest:
            return _only(self.values(node), name)
        own = self.scope(node)
        here = scope = self._outer.get((own, name), own)
        while True:
            assigned = self._assigned.get((scope, name), [])
            if (scope, name) in self._shared:
                return _only((value for _, value in assigned), name)
            before = bisect_left(assigned, place(node), key=itemgetter(0)) if scope is here else 0
            if before:
                return assigned[before - 1][1]
            if assigned and scope is not here:
                return _only((value for _, value in assigned), name)
            if scope is self.tree:
                return None
            scope = self.scope(scope)

    def values(self, node: ast.AST) -> list[ast.expr | None]:
        """All values of a name in its function, class or module, with None for unknown values."""
        name = path(node)
        if name.startswith("self."):
            return [v for _, v in self._assigned.get((self.owner(node) or self.tree, name), [])]
        scope = self.scope(node)
        while not (assigned := self._assigned.get((scope, name))) and scope is not self.tree:
            scope = self.scope(scope)
        return [value for _, value in assigned or []]

    def made_by(self, node: ast.AST | None, *names: str) -> bool:
        """True if the node (or its value, for a name) is a call of one of these torch names."""
        value = self.value(node)
        return isinstance(value, ast.Call) and self.torch(value.func) in names

    # --- the index --------------------------------------------------------------------------------

    def _index(self) -> None:
        stack: list[ast.AST] = [self.tree]
        order: list[ast.AST] = []
        while stack:
            node = stack.pop()
            order.append(node)
            children = list(ast.iter_child_nodes(node))
            for child in children:
                self.parent[child] = node
            stack.extend(reversed(children))
        for node in order:
            self._nodes.setdefault(type(node), []).append(node)
            if isinstance(node, ast.stmt):
                self._statements.append(node)
            if isinstance(node, ast.Call):
                self.calls.setdefault(last_name(node.func), []).append(node)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._bound.add(node.name)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                self._share(node)
            self._assign(node)
        for name, full in self._imported.items():  # for `import X as Y`, also list calls under X
            own = full.rpartition(".")[2]
            if own not in (name, ""):
                calls = [
                    call for call in self.calls.get(name, ()) if isinstance(call.func, ast.Name)
                ]
                if calls:
                    self.calls.setdefault(own, []).extend(calls)
        for calls_of_name in self.calls.values():
            calls_of_name.sort(key=place)
        for assigned in self._assigned.values():
            assigned.sort(key=lambda assignment: assignment[0])

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            local = alias.asname or alias.name.partition(".")[0]
            self._bound.add(local)
            if isinstance(node, ast.ImportFrom) and alias.name == "*":
                self.stars.append((node.module or "", node.level))
            elif isinstance(node, ast.ImportFrom):
                self.origins[local] = Origin(node.level, node.module or "", alias.name)
            else:
                self.origins[local] = Origin(0, alias.name if alias.asname else local, "")
            if isinstance(node, ast.ImportFrom):
                full = f"{node.module or ''}.{alias.name}"
            else:
                full = alias.name if alias.asname else local
            before = self._imported.get(local, full)
            if _is_torch(before) != _is_torch(full):
                full = local  # different imports, so the meaning is unknown
            self._imported[local] = full

    def _share(self, node: ast.Global | ast.Nonlocal) -> None:
        here = self.scope(node)
        for name in node.names:
            outer = self.tree if isinstance(node, ast.Global) else self.scope(here)
            while outer is not self.tree and (outer, name) not in self._assigned:
                if isinstance(node, ast.Global):
                    break
                outer = self.scope(outer)
            self._outer[here, name] = outer
            self._shared.add((outer, name))

    def _assign(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._give(target, node.value, end(node))
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            if node.value is not None:
                self._give(node.target, node.value, end(node))
        elif isinstance(node, ast.AugAssign):
            self._give(node.target, None, end(node))
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            self._give(node.target, None, place(node.target))
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._give(node.optional_vars, None, place(node.optional_vars))
        elif isinstance(node, ast.arg):
            self._set(self.scope(node), node.arg, place(node), None)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)) and node.name:
            self._set(self.scope(node), node.name, place(node), None)

    def _give(self, target: ast.AST, value: ast.expr | None, at: tuple[int, int]) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            several = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            same = len(several) == len(target.elts)
            for number, element in enumerate(target.elts):
                self._give(element, several[number] if same else None, at)
        elif isinstance(target, ast.Starred):
            self._give(target.value, None, at)
        elif name := path(target):
            owner = self.parent_scope(target)
            if isinstance(owner, ast.ClassDef) and "." not in name:
                name = f"self.{name}"  # the name that its methods use
            is_attribute = name.startswith("self.")
            scope = (self.owner(target) or self.tree) if is_attribute else self.scope(target)
            self._set(self._outer.get((scope, name), scope), name, at, value)

    def _set(self, scope: ast.AST, name: str, at: tuple[int, int], value: ast.expr | None) -> None:
        self._bound.add(name)
        self._assigned.setdefault((scope, name), []).append((at, value))


def _only(values: Iterable[ast.expr | None], name: str) -> ast.expr | None:
    """The only value of a name, other than a literal None.

    Returns None if the values differ or a value is unknown, or if the value uses the name itself,
    because tracing such a name would never end.
    """
    known_values = [value for value in values if value is None or not is_none(value)]
    expressions = {ast.dump(value): value for value in known_values if value is not None}
    if len(expressions) != 1 or None in known_values:
        return None
    value = expressions.popitem()[1]
    return None if any(path(part) == name for part in ast.walk(value)) else value


def _is_torch(name: str) -> bool:
    return name == "torch" or name.startswith("torch.")


# --- nodes ----------------------------------------------------------------------------------------


def place(node: ast.AST) -> tuple[int, int]:
    """The line (from 1) and the column (in UTF-8 bytes, from 0)."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def inserted(at: tuple[int, int], text: str) -> Edit:
    return Edit(*at, *at, text)


def replaced(node: ast.AST, text: str) -> Edit:
    return Edit(*place(node), *end(node), text)


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after these edits, which must not overlap."""
    lines = text.split("\n")
    for edit in sorted(edits, reverse=True):  # from the end, so that earlier positions stay valid
        first = lines[edit.line - 1].encode()[: edit.column].decode()
        last = lines[edit.end_line - 1].encode()[edit.end_column :].decode()
        lines[edit.line - 1 : edit.end_line] = (first + edit.text + last).split("\n")
    return "\n".join(lines)


def path(node: ast.AST | None) -> str:
    """The dotted name as written, such as "self.model", or "" for any other expression."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def last_name(node: ast.AST) -> str:
    """The last part of a name, such as "eval" for model.eval and for f(x).eval."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def receiver(call: ast.Call) -> ast.expr | None:
    """The object whose method is called, such as x for x.softmax(1)."""
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def argument(call: ast.Call, position: int, name: str = "") -> ast.expr | None:
    """The argument with this name or at this position (with -1, only the name is used)."""
    for keyword in call.keywords:
        if name and keyword.arg == name:
            return keyword.value
    before = call.args[: position + 1]
    if position < 0 or len(before) <= position:
        return None
    return None if any(isinstance(value, ast.Starred) for value in before) else before[position]


def has_unpacked(call: ast.Call) -> bool:
    """True if the call has *args or **kwargs, whose contents are unknown."""
    return any(isinstance(value, ast.Starred) for value in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def constant(node: ast.AST | None) -> object:
    """The value of a literal or a negative number, or None for any other expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = constant(node.operand)
        return -value if isinstance(value, (int, float)) else None
    return node.value if isinstance(node, ast.Constant) else None


def is_none(node: ast.AST | None) -> bool:
    """True if the node is the literal None."""
    return isinstance(node, ast.Constant) and node.value is None


def source(node: ast.AST, most: int = 60) -> str:
    """The source of the node on one line, truncated to `most` characters."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= most else text[: most - 3] + "..."


def names(node: ast.AST) -> set[str]:
    """All names and attributes in the node."""
    return {
        part.id if isinstance(part, ast.Name) else part.attr
        for part in ast.walk(node)
        if isinstance(part, (ast.Name, ast.Attribute))
    }
