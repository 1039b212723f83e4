from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, names, path, place, source
from ...project import Definition, definition
from ...training import (
    backwards,
    functions_called,
    is_fragment,
    optimizer_steps,
    stands_in,
    without_grad,
)
from .. import needs

SEEDS = ("manual_seed", "manual_seed_all", "seed_everything", "set_seed")
DRAWS = frozenset(
    "randn rand randint randperm normal bernoulli multinomial randn_like rand_like"
    " randint_like".split()
)
# Units that training loops count. A loop over seeds, folds or sizes is seeded on purpose.
COUNTED = ("step", "epoch", "batch", "iter")


@needs("for ", "backward|rand|step(")
def seed_inside_the_loop(code: Code) -> Iterator[Hit]:
    yield from _seeded_by_a_constructor(code)
    for call in [call for name in SEEDS for call in code.calls.get(name, ())]:
        loops = code.loops(call)
        if not loops or not isinstance(loops[0], ast.For):
            continue
        loop = loops[0]
        if (
            not _counts(loop)
            or not stands_in(code, call, loop)
            or not _is_constant_seed(code, call, loop)
            or without_grad(code, call)
            or code.within(loop, ast.Assert)
            or code.calls_in(code.function(call), "fork_rng", "get_rng_state", "set_rng_state")
        ):
            continue
        if (what := _repeated(code, call, loop)) is not None:
            yield Hit(call, f"{source(call)} resets the generator in every iteration, so {what}")


def _seeded_by_a_constructor(code: Code) -> Iterator[Hit]:
    """Yields the objects that each pass of a training loop creates, if their class seeds torch."""
    for loop in code.all(ast.For):
        if not code.calls.get("backward") or not _counts(loop) or not backwards(code, loop):
            continue
        for call in code.calls_in(loop):
            if not last_name(call.func)[:1].isupper() or code.loops(call)[:1] != [loop]:
                continue
            if any("seed" in str(keyword.arg) for keyword in call.keywords):
                continue
            found = definition(code, call.func)
            if found is not None and isinstance(found.node, ast.ClassDef) and _seeds(found):
                yield Hit(
                    call,
                    f"{found.node.name}() resets the generator in every iteration, so dropout, "
                    "noise and shuffling repeat",
                )


def _seeds(made: Definition) -> bool:
    """True if __init__() calls torch.manual_seed() with a number or with a default."""
    for function in made.node.body:
        if isinstance(function, ast.FunctionDef) and function.name == "__init__":
            for call in made.code.calls_in(function, "manual_seed"):
                seed = call.args[0] if call.args else None
                numbers = [constant(value) for value in (seed, *_defaults(function, path(seed)))]
                if made.code.full(call.func) == "torch.manual_seed":
                    return any(isinstance(number, int) for number in numbers)
    return False


def _defaults(function: ast.FunctionDef, name: str) -> list[ast.expr]:
    parameters = function.args.args[::-1]
    pairs = zip(parameters, function.args.defaults[::-1], strict=False)
    return [value for parameter, value in pairs if parameter.arg == name]


def _counts(loop: ast.For) -> bool:
    """True if the loop runs over epochs, steps or batches."""
    over = loop.iter
    while (
        isinstance(over, ast.Call) and last_name(over.func) in ("enumerate", "tqdm") and over.args
    ):
        over = over.args[0]
    is_range = isinstance(over, ast.Call) and last_name(over.func) in ("range", "trange")
    if not is_range:
        return any(word in last_name(over).lower() for word in ("loader", "batches"))
    counter = last_name(loop.target).lower()
    if counter.startswith(("num_", "n_", "max_")) or counter.endswith("s"):
        return False  # as in `for num_epochs in range(10, 60, 10)`, with one run per value
    counted = names(loop.target) | names(loop.iter)
    return any(part in word.lower() for word in counted for part in COUNTED)


def _is_constant_seed(code: Code, call: ast.Call, loop: ast.For) -> bool:
    """True if the seed is the same in every pass: a number, or a name from outside the loop."""
    if len(call.args) != 1 or call.keywords:
        return False
    seed = call.args[0]
    if isinstance(constant(seed), int):
        return True
    if not path(seed) or path(seed).startswith("self."):
        return False
    assigned = {
        path(name)
        for name in code.within(loop, (ast.Name, ast.Attribute))
        if isinstance(name.ctx, ast.Store)
    }
    return path(seed) not in assigned


def _repeated(code: Code, call: ast.Call, loop: ast.For) -> str | None:
    """Describes what repeats in every pass, or returns None if nothing important does."""
    called = functions_called(code, loop)
    trains = any(backwards(code, body) or optimizer_steps(code, body) for body in [loop, *called])
    if code.method(call) == "manual_seed":  # the seed of a separate generator
        if not trains and not is_fragment(code):  # the code compares images or measures runs
            return None
        statement = code.statement(call)
        generator = path(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        if isinstance(statement, ast.Assign):
            generator = path(statement.targets[0])
        for draw in code.calls_in(loop):
            generators = [
                path(keyword.value) for keyword in draw.keywords if keyword.arg == "generator"
            ]
            if (
                code.torch(draw.func) in DRAWS
                and generator in generators
                and place(draw) > place(call)
            ):
                return f"{source(draw, 40)} draws the same numbers again"
        return None
    if code.method(call):  # the call may not be from torch
        return None
    return "dropout, noise and shuffling repeat" if trains else None
