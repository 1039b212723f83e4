"""Turns a reproducer into a flat program that the readers of a report can run.

The source text is preserved. Roles that a report does not show are removed, along with all code
that only they use. The bodies of control() and reproduce() become the program, which prints first
the result of the control and then the failure. If the symptom is an error, the program does not
catch it, so the traceback is the last output.
"""

from __future__ import annotations

import ast
import re
import signal
from collections.abc import Iterator

MAX_LINES = 25  # recommended maximum number of code lines in a program
FINE = "ok"  # printed if no symptom occurs
LABELS = {"control": "control", "reproduce": "seen"}  # role -> the prefix of its output line
# role -> its name in the program, if it has to remain a function
FUNCTIONS = {"control": "without_the_cause", "reproduce": "with_the_cause"}
CONTROL = "# The control: the same without the cause."
FAILURE = {  # kind -> the comment above the failure; other kinds need no comment
    "crash": "# The failure: it ends the process by a signal.",
    "hang": "# The failure: it hangs, here until its time limit.",
}
LINE = 68  # maximum length of a value that is printed on the line that computes it
# A process that is started without forking runs the file again, except the `__main__` block.
_STARTS = re.compile(r"num_workers|multiprocessing|__file__")
_FORKS = re.compile(r'"fork"')


def flat(code: str, kind: str, device: str) -> str:
    """The program. `code` is the file below its docstring, and `device` replaces the argument."""
    try:
        text = _uncaught(_without(code, ("right", "messages", "popular_fix")))
    except (SyntaxError, ValueError):  # running the code reports the error
        return code
    silent, functions, lines = _silent(text), _functions(text), [CONTROL]
    for role in LABELS:
        if role == "reproduce":
            lines.append(FAILURE.get(kind, "# The failure."))
        lines += [line for line in _defaults(functions[role]) if line not in lines]
        lines += _inlined(text, functions[role], device, silent)
    rest = _without(text, tuple(LABELS))
    if kind == "crash":  # a signal does not report a line number
        rest = f"import faulthandler\n{rest}"
        lines.insert(0, "faulthandler.enable()")
    if "device" in _names("\n".join(lines)):
        lines.insert(0, f'device = "{device}"')
    return _used(rest, _guarded(rest, lines))


def seen(output: str) -> str:
    """The part of a program's output that shows the failure, or "" if its control did not pass."""
    passed, _, rest = output.partition(f"{LABELS['control']}: {FINE}\n")
    return "" if passed.startswith(LABELS["control"]) else rest.removeprefix("seen: ")


def shows(output: str, symptom: str) -> bool:
    """True if the program's output contains the symptom, on one or several lines."""
    failure = seen(output)
    return any(re.search(symptom, text) for text in (failure, " ".join(failure.split())))


def ending(output: str, status: int) -> str:
    """A line that names the signal that killed a program (status below 0), and the function."""
    frame = re.search(r'File "[^"\n]+", line \d+ in (\w+)', output)  # from faulthandler
    name = signal.Signals(-status).name
    return f"killed by {name}{f' in {frame[1]}' if frame else ''}\n"


def code_lines(program: str) -> int:
    """The number of lines in a program, excluding blank lines and comments."""
    lines = (line.strip() for line in program.splitlines())
    return sum(bool(line) and not line.startswith("#") for line in lines)


def _functions(text: str) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def _chunks(text: str) -> Iterator[tuple[ast.stmt, str]]:
    """Yields each statement of a module with its lines and the comments and blanks above it."""
    lines, start = text.splitlines(keepends=True), 0
    for node in ast.parse(text).body:
        yield node, "".join(lines[start : node.end_lineno])
        start = node.end_lineno or 0


def _without(code: str, roles: tuple[str, ...]) -> str:
    """The code without these functions, and without the lines that end every file."""
    return "".join(
        lines
        for node, lines in _chunks(code.partition("\nif __name__ == ")[0] + "\n")
        if not (isinstance(node, ast.FunctionDef) and node.name in roles)
    )


# --- errors that are the symptom ------------------------------------------------------------------


def _uncaught(text: str) -> str:
    """Removes the handlers that return an error's text as the result of a role."""
    for function in _direct(text):
        for node in _own(function):
            if isinstance(node, ast.Try) and _returns_the_error(node):
                return _uncaught(_without_handlers(text, node))
    return text


def _direct(text: str) -> list[ast.FunctionDef]:
    """The roles, and the functions that are used only as `return f(...)` within such functions."""
    functions = _functions(text)
    direct = [functions[role] for role in LABELS]
    uses = [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    for _ in functions:  # no chain of calls is longer than this
        returned = [_returned_call(node) for function in direct for node in _own(function)]
        direct += [
            function
            for name, function in functions.items()
            if function not in direct and 0 < returned.count(name) == uses.count(name)
        ]
    return direct


def _own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function, excluding nested functions and classes."""
    waiting: list[ast.AST] = list(function.body)
    for node in waiting:
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)


def _returned_call(node: ast.AST) -> str:
    """Returns `f` for `return f(...)`, or ""."""
    value = node.value if isinstance(node, ast.Return) else None
    called = value.func if isinstance(value, ast.Call) else None
    return called.id if isinstance(called, ast.Name) else ""


def _returns_the_error(node: ast.Try) -> bool:
    def returns(handler: ast.ExceptHandler) -> bool:
        *checks, last = handler.body
        return (
            isinstance(last, ast.Return)
            and last.value is not None
            and not isinstance(last.value, ast.JoinedStr)  # an f-string adds other words
            and "str(" in ast.unparse(last.value)
            and all(
                isinstance(check, ast.If) and isinstance(check.body[-1], ast.Raise)
                for check in checks
            )
        )

    return bool(node.handlers) and not node.orelse and all(map(returns, node.handlers))


def _without_handlers(text: str, node: ast.Try) -> str:
    lines = text.splitlines()
    handlers = slice(node.handlers[0].lineno - 1, node.handlers[-1].end_lineno)
    if node.finalbody:
        del lines[handlers]
    else:
        body = _dedented(lines[node.lineno : handlers.start], _inside_strings(node, node.lineno))
        lines[node.lineno - 1 : handlers.stop] = body
    return "\n".join(lines) + "\n"


def _inside_strings(node: ast.AST, first: int) -> set[int]:
    """The numbers, counted from `first`, of lines that begin inside a string."""
    return {
        number - first
        for string in ast.walk(node)
        if isinstance(string, ast.JoinedStr)
        or (isinstance(string, ast.Constant) and isinstance(string.value, (str, bytes)))
        for number in range(string.lineno, string.end_lineno or 0)
    }


def _dedented(lines: list[str], inside_strings: set[int]) -> list[str]:
    return [
        line if number in inside_strings else line.removeprefix("    ")
        for number, line in enumerate(lines)
    ]


# --- roles ----------------------------------------------------------------------------------------


def _silent(text: str) -> set[str]:
    """The functions that return nothing because their symptom is an error."""
    functions = _functions(text)
    silent: set[str] = set()

    def returns_a_value(node: ast.AST) -> bool:
        value = node.value if isinstance(node, ast.Return) else None
        return isinstance(node, (ast.Yield, ast.YieldFrom)) or (
            value is not None and _returned_call(node) not in silent
        )

    for _ in functions:  # no chain of calls is longer than this
        silent |= {
            name
            for name, function in functions.items()
            if not any(map(returns_a_value, _own(function)))
        }
    return silent


def _defaults(role: ast.FunctionDef) -> list[str]:
    """`epochs = 10` for `def reproduce(device, epochs=10)`."""
    names = role.args.args[len(role.args.args) - len(role.args.defaults) :]
    return [f"{name.arg} = {ast.unparse(value)}" for name, value in zip(names, role.args.defaults)]


def _inlined(text: str, role: ast.FunctionDef, device: str, silent: set[str]) -> list[str]:
    """The lines of a role, changed to print its return value."""
    label = LABELS[role.name]
    returns = [node for node in _own(role) if isinstance(node, ast.Return)]
    last = [node for node, _ in _ends(role.body)]
    if any(node not in last for node in returns):  # inlined code would continue after the return
        return _as_function(text, role, device)
    falls_through = bool(returns) and not all(returned for _, returned in _ends(role.body))
    edits = _device_named(role, device)
    for node in returns:
        removed = len("return ") if node.value else len("return")
        before, after = _printed(text, node, label, silent)
        if falls_through:
            before, after = f"{label} = {'' if node.value else 'None'}", ""
        edits.append((node.lineno, node.col_offset, removed, before))
        edits.append((node.end_lineno or 0, node.end_col_offset or 0, 0, after))
    body = _body(text, role, edits)
    if falls_through:
        return [f"{label} = None", *body, f'print("{label}:", {label} or "{FINE}")']
    return body + ([] if returns else [f'print("{label}: {FINE}")'])


def _as_function(text: str, role: ast.FunctionDef, device: str) -> list[str]:
    """Renders the role under a different name, and a call that prints its return value."""
    name = FUNCTIONS[role.name]
    function = text.splitlines()[role.lineno - 1 : role.end_lineno]
    function[0] = function[0].replace(f"def {role.name}(", f"def {name}(", 1)
    call = f'{name}("{device}")'
    return [*function, "", "", f'print("{LABELS[role.name]}:", {call} or "{FINE}")']


Edit = tuple[int, int, int, str]  # line, column in bytes, bytes removed, replacement


def _device_named(role: ast.FunctionDef, device: str) -> list[Edit]:
    """Edits that replace the parameter `device` with the device's name, if it is only passed on."""
    nodes = [node for statement in role.body for node in ast.walk(statement)]
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id == "device"]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    passed = [value for call in calls for value in (*call.args, *(k.value for k in call.keywords))]
    texts = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    quoted = [node for text in texts for node in ast.walk(text)]  # quotation marks do not fit here
    if not all(name in passed and name not in quoted for name in names):
        return []
    return [(name.lineno, name.col_offset, len("device"), f'"{device}"') for name in names]


def _body(text: str, role: ast.FunctionDef, edits: list[Edit]) -> list[str]:
    """The edited lines of the role below its `def`, without indentation."""
    lines = text.encode().splitlines(keepends=True)  # columns are bytes
    opening = role.body[0]
    first = min(node.lineno for node in (opening, *getattr(opening, "decorator_list", ())))
    for line, column, removed, new in sorted(edits, reverse=True):
        old = lines[line - 1]
        lines[line - 1] = old[:column] + new.encode() + old[column + removed :]
    body = b"".join(lines[first - 1 : role.end_lineno]).decode().splitlines()
    return _dedented(body, _inside_strings(role, first))


def _ends(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, bool]]:
    """Yields each statement that may run last, and True if it returns or raises."""
    last = body[-1]
    if isinstance(last, ast.If):
        yield from _ends(last.body)
        yield from _ends(last.orelse) if last.orelse else [(last, False)]
    elif isinstance(last, ast.With):
        yield from _ends(last.body)
    elif isinstance(last, ast.Try) and not last.finalbody and not last.orelse:
        for part in (last.body, *(handler.body for handler in last.handlers)):
            yield from _ends(part)
    else:
        yield last, isinstance(last, (ast.Return, ast.Raise))


def _printed(text: str, node: ast.Return, label: str, silent: set[str]) -> tuple[str, str]:
    """The text that replaces `return`, and the text that follows the value."""
    below = f"\n{' ' * node.col_offset}"
    if node.value is None:
        return f'print("{label}: {FINE}")', ""
    if _returned_call(node) in silent:
        return "", f'{below}print("{label}: {FINE}")'
    value = ast.get_source_segment(text, node.value) or ""
    if "\n" in value or len(value) > LINE or isinstance(node.value, (ast.IfExp, ast.Lambda)):
        return f"{label} = ", f'{below}print("{label}:", {label} or "{FINE}")'
    return f'print("{label}:", ', f' or "{FINE}")'


# --- the whole ------------------------------------------------------------------------------------


def _guarded(text: str, lines: list[str]) -> str:
    """The last lines, wrapped in a function or the `__main__` block if necessary."""
    end = ast.parse("\n".join(lines))
    runs_again = _STARTS.search(text) and not _FORKS.search(text)
    nodes = list(ast.walk(end))
    functions = [node for node in nodes if isinstance(node, (ast.Lambda, ast.FunctionDef))]
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    stored |= {node.name for node in functions if isinstance(node, ast.FunctionDef)}
    shadows = stored & set().union(*(_bound(node) for node in ast.parse(text).body))
    body = [f"    {line}".rstrip() for line in lines]
    # A function inside a role cannot be pickled, so it must not become a module-level function.
    if shadows or (runs_again and functions):
        return "\n".join(["def main():", *body, "", "", 'if __name__ == "__main__":', "    main()"])
    return "\n".join(['if __name__ == "__main__":', *body] if runs_again else lines)


def _names(text: str | ast.AST) -> set[str]:
    tree = ast.parse(text) if isinstance(text, str) else text
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _used(text: str, end: str) -> str:
    """The statements of `text` that `end` needs, followed by `end`."""
    chunks, needed, used = list(_chunks(text)), _names(end), set[int]()
    while more := {
        number
        for number, (node, _) in enumerate(chunks)
        if number not in used and (not (bound := _bound(node)) or bound & needed)
    }:
        used |= more
        needed |= set().union(*(_names(chunks[number][0]) for number in more))
    parts = [_import(*chunks[number], needed) for number in sorted(used)]
    top = "".join(parts).strip()
    last = chunks[max(used)][0] if used else None
    around = isinstance(last, (ast.FunctionDef, ast.ClassDef)) or end.startswith("def ")
    return "\n".join([top, *[""] * (2 if around else 1), end]).strip()


def _bound(node: ast.stmt) -> set[str]:
    """The names that a module-level statement binds."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {_name(alias) for alias in node.names}
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
        return {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return set()


def _name(alias: ast.alias) -> str:
    return (alias.asname or alias.name).partition(".")[0]


def _import(node: ast.stmt, lines: str, needed: set[str]) -> str:
    """The lines of a statement. For an import, only the names in use are kept."""
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return lines
    used = [alias for alias in node.names if _name(alias) in needed]
    if len(used) == len(node.names):
        return lines
    above = lines[: len(lines) - len(lines.lstrip("\n"))]
    node.names = used
    return f"{above}{ast.unparse(node)}\n"
