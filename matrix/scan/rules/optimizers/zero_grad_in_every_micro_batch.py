from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, path, place, source
from ...training import backwards, is_dead, optimizer_steps, rest_of_the_block, stands_in
from .. import needs
from .shared import is_of, reads_gradients


@needs("zero_grad", "backward", "step(")
def zero_grad_in_every_micro_batch(code: Code) -> Iterator[Hit]:
    for clear in code.calls.get("zero_grad", ()):
        loops = code.loops(clear)
        if not loops or not stands_in(code, clear, loops[0]) or is_dead(code, clear):
            continue
        loop = loops[0]
        later = [
            call
            for call in backwards(code, loop)
            if place(call) > place(clear) and code.loops(call)[:1] == [loop]
        ]
        steps = optimizer_steps(code, loop)
        if steps:  # the steps that are taken in every n-th pass
            every = [step for step in steps if _windows(code, step, loop)]
            reach = [step for step in every if is_of(code, clear, step)]
            loses_some = len(every) == len(steps) == len(reach)
            loses_some = loses_some and all(
                not backwards(code, _branch(code, step, loop)) for step in steps
            )
            loses_some = loses_some and all(place(clear) < place(step) for step in steps)
            loses_some = loses_some and not all(_is_every_pass(code, step, loop) for step in steps)
        else:
            reach = _first_steps_after(code, loop)
            loses_some = any(is_of(code, clear, step) for step in reach)
            loses_some = loses_some and not _is_one_pass_by_default(code, loop)
        if (
            loses_some
            and any(stands_in(code, call, loop) for call in later)
            and not reads_gradients(loop)
        ):
            yield Hit(
                clear,
                f"{source(clear, 40)} clears the gradients of the earlier micro-batches, so "
                f"{source(reach[0], 40)} uses only the gradients of the last micro-batch",
            )


def _branch(code: Code, step: ast.AST, loop: ast.AST) -> ast.AST:
    """The outermost `if` in the loop that contains the step, or the step itself."""
    outermost = step
    for above in code.ancestors(step):
        if above is loop:
            break
        if isinstance(above, ast.If):
            outermost = above
    return outermost


def _windows(code: Code, step: ast.Call, loop: ast.AST) -> list[ast.expr]:
    """The n in each test `(i + 1) % n == 0` that guards the step in this loop."""
    branch = _branch(code, step, loop)
    return [
        part.right
        for test in code.conditions(step)
        if test is getattr(branch, "test", None)
        for part in ast.walk(code.value(test) or test)
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod)
    ]


def _is_every_pass(code: Code, step: ast.Call, loop: ast.AST) -> bool:
    return all(_is_one(code, window) for window in _windows(code, step, loop))


def _is_one_pass_by_default(code: Code, loop: ast.AST) -> bool:
    """True for `for _ in range(1)`, and for range(n) if n defaults to 1."""
    over = loop.iter if isinstance(loop, ast.For) else None
    return (
        isinstance(over, ast.Call)
        and last_name(over.func) == "range"
        and len(over.args) == 1
        and _is_one(code, over.args[0])
    )


def _is_one(code: Code, number: ast.AST, depth: int = 3) -> bool:
    """True if the scanned file shows that the number is 1, for example because the default is 1."""
    value = code.value(number)
    if constant(value) == 1:
        return True
    if isinstance(value, ast.Call) and last_name(value.func) in ("get", "getattr"):
        return constant(value.args[-1] if value.args else None) == 1
    if not depth or not path(number):
        return False
    if path(value) and value is not None and value is not number:
        return _is_one(code, value, depth - 1)
    values = [*_defaults_and_arguments(code, number), *_options(code, number)]
    return bool(values) and all(_is_one(code, value, depth - 1) for value in values)


def _defaults_and_arguments(code: Code, number: ast.AST) -> list[ast.expr]:
    """The default of a parameter, and the arguments that calls in this file pass instead."""
    function = code.function(number)
    if not isinstance(function, ast.FunctionDef):
        return []
    arguments = function.args
    places = [parameter.arg for parameter in arguments.posonlyargs + arguments.args]
    defaults = dict(zip(reversed(places), reversed(arguments.defaults), strict=False))
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[parameter.arg] = default
    if (name := path(number)) not in defaults:
        return []
    owner = code.parent[function]
    called = function.name
    if isinstance(owner, ast.ClassDef):
        called = owner.name if function.name == "__init__" else function.name
        places = places[1:]
    at = places.index(name) if name in places else -1
    passed = [argument(call, at, name) for call in code.calls.get(called, ())]
    return [defaults[name], *(value for value in passed if value is not None)]


def _options(code: Code, number: ast.AST) -> list[ast.expr]:
    """The defaults of args.n, from a command-line option or a field of a class."""
    if not isinstance(number, ast.Attribute):
        return []
    defaults: list[ast.expr] = []
    for call in code.calls.get("add_argument", ()):
        options = [str(constant(flag)).lstrip("-").replace("-", "_") for flag in call.args]
        if number.attr in options:
            defaults.append(argument(call, -1, "default") or call)
    for field in code.all(ast.AnnAssign):
        if path(field.target) == number.attr:
            defaults.append(field.value or field.target)
    return defaults


def _first_steps_after(code: Code, loop: ast.stmt) -> list[ast.Call]:
    """The first optimizer steps after the loop, unless backward() or zero_grad() comes first."""
    for statement in rest_of_the_block(code, loop):
        steps = optimizer_steps(code, statement)
        if steps or backwards(code, statement) or code.calls_in(statement, "zero_grad"):
            return (
                [] if backwards(code, statement) or code.calls_in(statement, "zero_grad") else steps
            )
    return []
