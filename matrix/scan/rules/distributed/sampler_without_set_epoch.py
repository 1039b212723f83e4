from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, names, path, source
from ...training import epoch_loop, without_grad
from .. import needs

# They call set_epoch() themselves.
TRAINERS = ("lightning", "pytorch_lightning", "accelerate", "ignite", "colossalai")
EVALUATION = ("val", "eval", "test", "infer", "predict")


@needs("DistributedSampler", "DataLoader", "epoch")
def sampler_without_set_epoch(code: Code) -> Iterator[Hit]:
    if _may_set_epoch(code):
        return
    loops = code.all(ast.For)
    used: list[tuple[ast.AST, ast.expr]] = [(loop, _iterated(loop.iter)) for loop in loops]
    used += [(call, call.args[0]) for call in code.calls.get("list", ()) if call.args]
    for node, loader in used:
        samplers = [one for made in _loaders(code, loader) for one in _samplers(code, made)]
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
                f"nothing in this file calls set_epoch(), so {source(loader)} has the same "
                "order in "
                f"every epoch of the loop in line {epochs.lineno}",
            )


def _may_set_epoch(code: Code) -> bool:
    for one in code.all(ast.Attribute):
        by_hand = one.attr == "epoch" and isinstance(one.ctx, ast.Store)  # sampler.epoch = epoch
        if one.attr == "set_epoch" or (by_hand and "sampler" in last_name(one.value).lower()):
            return True
    modules = [statement.module or "" for statement in code.all(ast.ImportFrom)]
    for imported in code.all(ast.Import):
        modules += [alias.name for alias in imported.names]
    return any(module.partition(".")[0] in TRAINERS for module in modules)


def _is_one_pass(code: Code, loop: ast.For) -> bool:
    """for epoch in range(9, 10), where stages are trained one by one."""
    if not isinstance(loop.iter, ast.Call) or last_name(loop.iter.func) != "range":
        return False
    bounds = [constant(code.value(one)) for one in loop.iter.args]
    whole = [one for one in bounds if isinstance(one, int)]
    # not len() of all: a number may be larger than it can say
    return whole == bounds and len(range(*whole)[:2]) <= 1


def _iterated(node: ast.expr) -> ast.expr:
    """loader of enumerate(tqdm(loader))."""
    while isinstance(node, ast.Call) and node.args:
        if last_name(node.func) not in ("enumerate", "tqdm", "iter", "track", "progress_bar"):
            break
        node = node.args[0]
    return node


def _loaders(code: Code, node: ast.expr, depth: int = 3) -> list[ast.Call]:
    """The calls of DataLoader() that may have made it, here or where it was handed in."""
    node = _iterated(node)
    if isinstance(node, ast.IfExp):
        return _loaders(code, node.body, depth) + _loaders(code, node.orelse, depth)
    if isinstance(node, ast.Call):
        return [node] if code.torch(node.func) == "DataLoader" else []
    if not path(node) or not depth:
        return []
    found = [
        call
        for value in code.values(node)
        if isinstance(value, ast.expr) and value is not node
        for call in _loaders(code, value, depth - 1)
    ]
    function = code.function(node)
    if isinstance(function, ast.FunctionDef):
        parameters = [one.arg for one in function.args.posonlyargs + function.args.args]
        if path(node) in parameters and parameters[0] != "self":
            at = parameters.index(path(node))
            given = [argument(call, at, path(node)) for call in code.calls.get(function.name, ())]
            found += [
                call for one in given if one is not None for call in _loaders(code, one, depth - 1)
            ]
    return found


def _samplers(code: Code, loader: ast.Call) -> list[ast.Call]:
    """The shuffling DistributedSampler() that it may draw from, if no other code has it."""
    given = argument(loader, 3, "sampler")
    if given is None or _sampler_leaves(code, given, loader):
        return []
    branches: list[ast.AST | None] = []
    for value in code.values(given) if path(given) else [given]:
        branches += [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
    return [one for one in branches if isinstance(one, ast.Call) and _shuffles(code, one)]


def _shuffles(code: Code, sampler: ast.Call) -> bool:
    shuffle = argument(sampler, 3, "shuffle")
    seed = argument(sampler, 4, "seed")
    is_so = shuffle is None or constant(shuffle) is True
    if seed is not None and any("epoch" in word.lower() for word in names(seed)):
        return False
    return is_so and code.torch(sampler.func) == "DistributedSampler"


def _sampler_leaves(code: Code, sampler: ast.expr, loader: ast.Call) -> bool:
    """Whether a function that is not known is given the sampler too, and may call set_epoch()."""
    function = code.function(loader)
    return path(sampler) != "" and any(
        path(given) == path(sampler)
        for call in code.calls_in(function)
        if last_name(call.func) not in ("DataLoader", "BatchSampler", "len", "print", "isinstance")
        for given in [*call.args, *(keyword.value for keyword in call.keywords)]
    )


def _evaluates(code: Code, node: ast.AST, loader: ast.expr) -> bool:
    function = code.function(node)
    words = [path(loader).lower(), getattr(function, "name", "").lower()]
    return any(part in word for word in words for part in EVALUATION)
