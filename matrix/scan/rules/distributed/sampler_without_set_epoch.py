from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, names, path, place, source
from ...project import definition, program
from ...training import backwards, epoch_loop, functions_called, is_loader, without_grad
from .. import needs

# These packages call set_epoch() themselves.
TRAINERS = ("lightning", "pytorch_lightning", "accelerate", "ignite", "colossalai")
EVALUATION = ("val", "eval", "test", "infer", "predict")


@needs("DistributedSampler|oader", "epoch|while True")
def sampler_without_set_epoch(code: Code) -> Iterator[Hit]:
    if _may_set_epoch(code):
        return
    if "DistributedSampler" not in code.text:
        yield from _of_another_file(code)
        return
    loops = code.all(ast.For)
    used: list[tuple[ast.AST, ast.expr]] = [(loop, _iterated(loop.iter)) for loop in loops]
    used += [(call, call.args[0]) for call in code.calls.get("list", ()) if call.args]
    for node, loader in used:
        samplers = [
            sampler
            for loader_call in _loaders(code, loader)
            for sampler in _samplers(code, loader_call)
        ]
        epochs = epoch_loop(code, node)
        if (
            samplers
            and epochs is not None
            and epochs is not node
            and not _is_one_pass(code, epochs)
            and not without_grad(code, node)
            and not _evaluates(code, node, loader)
        ):
            yield Hit(
                samplers[0],
                f"nothing in this file calls set_epoch(), so {source(loader)} yields the "
                f"same order in every epoch of the loop on line {epochs.lineno}",
            )


def _of_another_file(code: Code) -> Iterator[Hit]:
    """Yields the training loop whose loader a function in another file creates."""
    makers = [
        call
        for call in code.all(ast.Call)
        if isinstance(call.func, (ast.Name, ast.Attribute))
        and "load" in last_name(call.func).lower()
        and _makes_a_sampler(code, call)
    ]
    if not makers or any("set_epoch" in file.text for file in program(code, "set_epoch")):
        return
    for loop in code.all(ast.For):
        loader = _iterated(loop.iter)
        bar = code.value(loader) if path(loader) else None
        if isinstance(bar, ast.Call) and last_name(bar.func) == "tqdm":
            loader = _iterated(bar)
        if not is_loader(code, loader) or _evaluates(code, loop, loader):
            continue
        inside = [loop, *functions_called(code, loop)]
        outer = epoch_loop(code, loop)
        endless = code.loops(loop)[:1]
        if outer is None and endless and isinstance(endless[0], ast.While):
            repeated: ast.AST | None = endless[0]
        else:
            repeated = outer if outer is not loop else None
        if repeated is not None and any(backwards(code, part) for part in inside):
            yield Hit(
                loop,
                f"nothing in this program calls set_epoch(), so {source(loader)} yields the "
                f"same order in every epoch of the loop on line {place(repeated)[0]}",
            )
            return


def _makes_a_sampler(code: Code, call: ast.Call, depth: int = 2) -> bool:
    """True for the call of a function that creates a shuffling sampler, maybe through another."""
    made = definition(code, call.func)
    if made is None:
        return False
    calls = [part for part in ast.walk(made.node) if isinstance(part, ast.Call)]
    return any(_shuffles(made.code, part) for part in calls) or any(
        depth > 1
        and "load" in last_name(part.func).lower()
        and _makes_a_sampler(made.code, part, depth - 1)
        for part in calls
    )


def _may_set_epoch(code: Code) -> bool:
    for node in code.all(ast.Attribute):
        by_hand = node.attr == "epoch" and isinstance(node.ctx, ast.Store)  # sampler.epoch = epoch
        if node.attr == "set_epoch" or (by_hand and "sampler" in last_name(node.value).lower()):
            return True
    modules = [statement.module or "" for statement in code.all(ast.ImportFrom)]
    for imported in code.all(ast.Import):
        modules += [alias.name for alias in imported.names]
    return any(module.partition(".")[0] in TRAINERS for module in modules)


def _is_one_pass(code: Code, loop: ast.For) -> bool:
    """True for `for epoch in range(9, 10)` and other loops with at most one pass."""
    if not isinstance(loop.iter, ast.Call) or last_name(loop.iter.func) != "range":
        return False
    bounds = [constant(code.value(bound)) for bound in loop.iter.args]
    whole = [bound for bound in bounds if isinstance(bound, int)]
    # slice the range first, because len() fails if it is too long
    return whole == bounds and len(range(*whole)[:2]) <= 1


def _iterated(node: ast.expr) -> ast.expr:
    """The loader inside its wrappers, such as loader in enumerate(tqdm(loader))."""
    while isinstance(node, ast.Call) and node.args:
        if last_name(node.func) not in ("enumerate", "tqdm", "iter", "track", "progress_bar"):
            break
        node = node.args[0]
    return node


def _loaders(code: Code, node: ast.expr, depth: int = 3) -> list[ast.Call]:
    """The DataLoader() calls that may have created the node, either here or in a caller."""
    node = _iterated(node)
    if isinstance(node, ast.IfExp):
        return _loaders(code, node.body, depth) + _loaders(code, node.orelse, depth)
    if isinstance(node, ast.Call):
        return [node] if code.torch(node.func) == "DataLoader" else []
    if not path(node) or not depth:
        return []
    calls = [
        call
        for value in code.values(node)
        if isinstance(value, ast.expr) and value is not node
        for call in _loaders(code, value, depth - 1)
    ]
    function = code.function(node)
    if isinstance(function, ast.FunctionDef):
        parameters = [parameter.arg for parameter in function.args.posonlyargs + function.args.args]
        if path(node) in parameters and parameters[0] != "self":
            at = parameters.index(path(node))
            passed = [argument(call, at, path(node)) for call in code.calls.get(function.name, ())]
            calls += [
                call
                for value in passed
                if value is not None
                for call in _loaders(code, value, depth - 1)
            ]
    return calls


def _samplers(code: Code, loader: ast.Call) -> list[ast.Call]:
    """The calls to DistributedSampler() with shuffling that may create the loader's sampler.

    The list is empty if an unknown function also receives the sampler, because that function may
    call set_epoch().
    """
    sampler = argument(loader, 3, "sampler")
    if sampler is None or _sampler_leaves(code, sampler, loader):
        return []
    branches: list[ast.AST | None] = []
    for value in code.values(sampler) if path(sampler) else [sampler]:
        branches += [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
    return [
        branch for branch in branches if isinstance(branch, ast.Call) and _shuffles(code, branch)
    ]


def _shuffles(code: Code, sampler: ast.Call) -> bool:
    shuffle = argument(sampler, 3, "shuffle")
    seed = argument(sampler, 4, "seed")
    shuffles = shuffle is None or constant(shuffle) is True
    if seed is not None and any("epoch" in word.lower() for word in names(seed)):
        return False
    return shuffles and code.torch(sampler.func) == "DistributedSampler"


def _sampler_leaves(code: Code, sampler: ast.expr, loader: ast.Call) -> bool:
    """True if an unknown function also receives the sampler and may call set_epoch()."""
    function = code.function(loader)
    return path(sampler) != "" and any(
        path(value) == path(sampler)
        for call in code.calls_in(function)
        if last_name(call.func) not in ("DataLoader", "BatchSampler", "len", "print", "isinstance")
        for value in [*call.args, *(keyword.value for keyword in call.keywords)]
    )


def _evaluates(code: Code, node: ast.AST, loader: ast.expr) -> bool:
    function = code.function(node)
    words = [path(loader).lower(), getattr(function, "name", "").lower()]
    return any(part in word for word in words for part in EVALUATION)
