"""Gradients that are cleared at the wrong place or never, and parameters no step reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import (
    Code,
    Hit,
    argument,
    constant,
    last_name,
    path,
    place,
    receiver,
    source,
)
from ..training import (
    MOVES,
    OPTIMIZERS,
    backwards,
    in_a_test,
    is_dead,
    is_optimizer,
    is_scaler,
    made,
    optimizer_steps,
    rest_of_the_block,
    stands_in,
)
from . import needs

Loop = ast.For | ast.AsyncFor | ast.While

# Between zero_grad() and step() these leave the gradients as they are.
QUIET = frozenset("print log info debug item append update add_scalar unscale_ time".split())  # noqa: SIM905
QUIET |= {"clip_grad_norm_", "clip_grad_value_", "set_postfix", "set_description", "len", "range"}


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
        if steps:  # those of every n-th pass
            every = [step for step in steps if _windows(code, step, loop)]
            reach = [step for step in every if _is_of(code, clear, step)]
            is_so = len(every) == len(steps) == len(reach)
            is_so = is_so and all(not backwards(code, _branch(code, step, loop)) for step in steps)
            is_so = is_so and all(place(clear) < place(step) for step in steps)
            is_so = is_so and not all(_is_every_pass(code, step, loop) for step in steps)
        else:
            reach = _first_steps_after(code, loop)
            is_so = any(_is_of(code, clear, step) for step in reach)
            is_so = is_so and not _is_one_pass_unless_asked(code, loop)
        if (
            is_so
            and any(stands_in(code, call, loop) for call in later)
            and not _reads_gradients(loop)
        ):
            yield Hit(
                clear,
                f"{source(clear, 40)} drops what the passes before it have added: "
                f"{source(reach[0], 40)} sees the gradient of the last one",
            )


@needs("zero_grad", "backward", "step(")
def zero_grad_before_the_step(code: Code) -> Iterator[Hit]:
    for clear in code.calls.get("zero_grad", ()):
        statement = code.statement(clear)
        block = code.block(statement)
        at = next(number for number, one in enumerate(block) if one is statement)
        if not isinstance(statement, ast.Expr) or statement.value is not clear:
            continue
        for later in block[at + 1 :]:
            steps = [step for step in optimizer_steps(code, later) if _is_of(code, clear, step)]
            if steps and isinstance(later, (ast.Expr, ast.Assign)):
                if _has_no_closure(code, steps[0]) and _gradients_came(code, block[:at], clear):
                    yield Hit(
                        clear,
                        f"{source(clear, 40)} takes the gradients of this pass before "
                        f"{source(steps[0], 40)} has used them",
                    )
                break
            if not _is_quiet(later):
                break


@needs("backward", "step(")
def missing_zero_grad(code: Code) -> Iterator[Hit]:
    if _file_may_clear(code):
        return
    for step in code.calls.get("step", ()):
        if step not in optimizer_steps(code, code.statement(step)):
            continue
        if not _has_no_closure(code, step):
            continue
        optimizer = _optimizer(code, step)
        loops = code.loops(step)
        if not loops or optimizer is None or not _is_torch_optimizer(code, optimizer, loops):
            continue
        if in_a_test(code, step) or is_dead(code, step):
            continue
        if isinstance(loops[0].body[-1], (ast.Break, ast.Return)):  # one step is all
            continue
        if any(code.loops(call)[:1] == loops[:1] for call in backwards(code, loops[0])):
            yield Hit(
                step,
                f"nothing in this file clears the gradients: each {source(step, 40)} takes those "
                "of all passes before it",
            )


@needs("parameters()", "step(")
def rebuilt_model_does_not_learn(code: Code) -> Iterator[Hit]:
    for node in code.nodes.get(ast.Assign, ()):
        assert isinstance(node, ast.Assign)
        optimizer, call = path(node.targets[0]), node.value
        if (
            not optimizer
            or not isinstance(call, ast.Call)
            or code.torch(call.func) not in OPTIMIZERS
        ):
            continue
        given = argument(call, 0, "params")
        if not isinstance(given, ast.Call) or last_name(given.func) != "parameters":
            continue
        model = path(receiver(given))
        after = rest_of_the_block(code, node)
        for at, later in enumerate(after):
            if not _gives(code, later, optimizer) and not _gives(code, later, model):
                continue
            if (
                isinstance(later, ast.Assign)
                and path(later.targets[0]) == model
                and _is_new(code, later.value, model)
                and _is_stepped(code, after[at + 1 :], optimizer)
            ):
                yield Hit(
                    later, f"{optimizer} holds the parameters of the {model} that was there before"
                )
            break


# --- what the rules above share -------------------------------------------------------------------


def _branch(code: Code, step: ast.AST, loop: ast.AST) -> ast.AST:
    """The outermost `if` of the loop that the step is in; the step itself where there is none."""
    found = step
    for above in code.ancestors(step):
        if above is loop:
            break
        if isinstance(above, ast.If):
            found = above
    return found


def _windows(code: Code, step: ast.Call, loop: ast.AST) -> list[ast.expr]:
    """The n of the tests `(i + 1) % n == 0` in this loop that it stands under."""
    branch = _branch(code, step, loop)
    return [
        part.right
        for test in code.conditions(step)
        if test is getattr(branch, "test", None)
        for part in ast.walk(test)
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod)
    ]


def _is_every_pass(code: Code, step: ast.Call, loop: ast.AST) -> bool:
    return all(_is_one(code, window) for window in _windows(code, step, loop))


def _is_one_pass_unless_asked(code: Code, loop: ast.AST) -> bool:
    """Whether it is for _ in range(1), or of a number that is 1 if nobody asks for more."""
    over = loop.iter if isinstance(loop, ast.For) else None
    return (
        isinstance(over, ast.Call)
        and last_name(over.func) == "range"
        and len(over.args) == 1
        and _is_one(code, over.args[0])
    )


def _is_one(code: Code, number: ast.AST, depth: int = 3) -> bool:
    """Whether it is 1 as far as this file tells: a default of 1 that nothing here replaces."""
    value = code.value(number)
    if constant(value) == 1:
        return True
    if isinstance(value, ast.Call) and last_name(value.func) in ("get", "getattr"):
        return constant(value.args[-1] if value.args else None) == 1
    if not depth or not path(number):
        return False
    if path(value) and value is not None and value is not number:
        return _is_one(code, value, depth - 1)
    found = [*_defaults_and_arguments(code, number), *_options(code, number)]
    return bool(found) and all(_is_one(code, one, depth - 1) for one in found)


def _defaults_and_arguments(code: Code, number: ast.AST) -> list[ast.expr]:
    """The default of a parameter, and what calls in this file give instead."""
    function = code.function(number)
    if not isinstance(function, ast.FunctionDef):
        return []
    arguments = function.args
    places = [one.arg for one in arguments.posonlyargs + arguments.args]
    defaults = dict(zip(reversed(places), reversed(arguments.defaults), strict=False))
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[one.arg] = default
    if (name := path(number)) not in defaults:
        return []
    owner = code.parent[function]
    called = function.name
    if isinstance(owner, ast.ClassDef):
        called = owner.name if function.name == "__init__" else function.name
        places = places[1:]
    at = places.index(name) if name in places else -1
    given = [argument(call, at, name) for call in code.calls.get(called, ())]
    return [defaults[name], *(one for one in given if one is not None)]


def _options(code: Code, number: ast.AST) -> list[ast.expr]:
    """The defaults of args.n: of an option of the command line, or of a field of a class."""
    if not isinstance(number, ast.Attribute):
        return []
    found: list[ast.expr] = []
    for call in code.calls.get("add_argument", ()):
        options = [str(constant(one)).lstrip("-").replace("-", "_") for one in call.args]
        if number.attr in options:
            found.append(argument(call, -1, "default") or call)
    for field in code.nodes.get(ast.AnnAssign, ()):
        if isinstance(field, ast.AnnAssign) and path(field.target) == number.attr:
            found.append(field.value or field.target)
    return found


def _optimizer(code: Code, step: ast.Call) -> ast.expr | None:
    """What is stepped: opt of opt.step() and of scaler.step(opt)."""
    if is_scaler(code, receiver(step)):
        return step.args[0] if step.args else None
    return receiver(step)


def _is_of(code: Code, clear: ast.Call, step: ast.Call) -> bool:
    """Whether zero_grad() is of the optimizer that is stepped, or of the model that it is for."""
    cleared, stepped = receiver(clear), _optimizer(code, step)
    if cleared is None or stepped is None:
        return False
    if ast.dump(cleared) == ast.dump(stepped):
        return is_optimizer(code, cleared)
    maker = made(code, stepped)
    params = argument(maker, 0, "params") if maker is not None else None
    return (
        isinstance(params, ast.Call)
        and last_name(params.func) == "parameters"
        and path(receiver(params)) == path(cleared) != ""
    )


def _has_no_closure(code: Code, step: ast.Call) -> bool:
    """Whether it has no closure, which may clear and compute the gradients."""
    return not step.keywords and len(step.args) == int(is_scaler(code, receiver(step)))


def _reads_gradients(node: ast.AST) -> bool:
    """Whether it uses gradients by itself, so that they do not only wait for a step."""
    calls = [last_name(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)]
    known = {"zero_grad", "no_grad", "enable_grad", "set_grad_enabled", "requires_grad_"}
    return any(isinstance(one, ast.Attribute) and one.attr == "grad" for one in ast.walk(node)) or (
        any("grad" in name and name not in known and "clip" not in name for name in calls)
    )


def _is_quiet(statement: ast.stmt) -> bool:
    calls = [one for one in ast.walk(statement) if isinstance(one, ast.Call)]
    return not _reads_gradients(statement) and all(
        last_name(one.func) in QUIET
        and (one.args or one.keywords or last_name(one.func) != "update")
        for one in calls  # update() of nothing may put gradients back
    )


def _gradients_came(code: Code, before: list[ast.stmt], clear: ast.Call) -> bool:
    """Whether there is a backward() since the last step of this optimizer."""
    for one in reversed(before):
        if any(_is_of(code, clear, step) for step in optimizer_steps(code, one)):
            return False
        if backwards(code, one):
            return not _reads_gradients(one)
        if not _is_quiet(one):
            return False
    return False


def _file_may_clear(code: Code) -> bool:
    """Whether something in the file may clear gradients."""
    words = ("zero", "reset", "clear", "clean", "none")
    used = {one.attr for one in code.nodes.get(ast.Attribute, []) if isinstance(one, ast.Attribute)}
    used |= {
        one.name for one in code.nodes.get(ast.FunctionDef, []) if isinstance(one, ast.FunctionDef)
    }
    return "grad" in used or any(
        "grad" in name.lower() and any(word in name.lower() for word in words)
        for name in used | set(code.calls)
    )


def _is_torch_optimizer(code: Code, optimizer: ast.expr, loops: list[Loop]) -> bool:
    """Whether it is one of torch.optim's, by all that is known, and made before these loops."""
    if path(optimizer) and code.torch(optimizer):  # of a fragment
        return True
    if _is_parameter(code, optimizer):  # of a function that trains what it is given
        makers = _made_by_callers(code, optimizer)
        return bool(makers) and all(
            one is not None and (code.torch(one.func) in OPTIMIZERS or _is_configured(one))
            for one in makers
        )
    values = code.values(optimizer)
    return bool(values) and all(
        isinstance(one, ast.Call)
        and (code.torch(one.func) in OPTIMIZERS or _is_configured(one))
        and not any(above in loops for above in code.ancestors(one))
        for one in values
    )


def _made_by_callers(code: Code, parameter: ast.expr) -> list[ast.Call | None]:
    """What the calls of its function in this file hand in, where that is not None."""
    function = code.function(parameter)
    assert isinstance(function, ast.FunctionDef)
    places = [one.arg for one in function.args.posonlyargs + function.args.args]
    at = places.index(path(parameter)) if path(parameter) in places else -1
    at -= at > 0 and isinstance(code.parent[function], ast.ClassDef)  # self
    given = [argument(call, at, path(parameter)) for call in code.calls.get(function.name, ())]
    known = [one for one in given if one is not None and ast.unparse(one) != "None"]
    return [made(code, one) for one in known]


def _first_steps_after(code: Code, loop: ast.stmt) -> list[ast.Call]:
    """The steps of the first statement after the loop with any; none if backward() comes first."""
    for one in rest_of_the_block(code, loop):
        steps = optimizer_steps(code, one)
        if steps or backwards(code, one) or code.calls_in(one, "zero_grad"):
            return [] if backwards(code, one) or code.calls_in(one, "zero_grad") else steps
    return []


def _is_configured(maker: ast.Call) -> bool:
    """hydra.utils.instantiate(cfg.optimizer, ...)"""
    return last_name(maker.func) == "instantiate"


def _is_parameter(code: Code, node: ast.expr) -> bool:
    function = code.function(node)
    if not isinstance(function, ast.FunctionDef) or len(code.values(node)) != 1:
        return False
    arguments = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    return path(node) in [one.arg for one in arguments]


def _gives(code: Code, statement: ast.stmt, name: str) -> bool:
    return any(
        path(part) == name
        for one in code.within(statement, ast.Assign)
        for target in one.targets
        for part in ast.walk(target)
    )


def _is_new(code: Code, value: ast.expr, model: str) -> bool:
    """Whether it builds a model from nothing of the one before: Net(3).to(device)."""
    while isinstance(value, ast.Call) and last_name(value.func) in MOVES:
        above = receiver(value)
        if above is None:
            return False
        value = above
    return (
        isinstance(value, ast.Call)
        and last_name(value.func)[:1].isupper()
        and not any(model in (path(part), path(code.value(part))) for part in ast.walk(value))
    )


def _is_stepped(code: Code, later: list[ast.stmt], optimizer: str) -> bool:
    """Whether the optimizer is stepped before it is made anew."""
    for one in later:
        if any(path(_optimizer(code, step)) == optimizer for step in optimizer_steps(code, one)):
            return True
        used = {part.attr for part in ast.walk(one) if isinstance(part, ast.Attribute)}
        if _gives(code, one, optimizer) or used & {"param_groups", "add_param_group"}:
            return False
    return False
