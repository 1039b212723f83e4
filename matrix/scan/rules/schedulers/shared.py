"""Helpers for schedules that are stepped in the wrong place or in the wrong unit."""

from __future__ import annotations

import ast

from ...code import Code, constant, has_unpacked, last_name, names, path, receiver
from ...training import SCHEDULERS, creating_call, is_dead, is_scheduler, optimizer_steps

STEPS = frozenset({"estimated_stepping_batches", "steps_per_epoch", "num_batches", "batches"})

# Names that contain "epoch" and one of these words mean the length of an epoch, not a number of
# epochs.
LENGTHS = ("per_epoch", "iter", "step", "batch", "len", "size", "sample", "data")


def is_bare(code: Code, step: ast.Call) -> bool:
    """True for scheduler.step() without arguments."""
    return not step.args and not step.keywords and is_scheduler(code, receiver(step))


def is_maker(code: Code, node: ast.AST | None) -> bool:
    """True if the node creates a scheduler from torch, or from transformers (a LambdaLR)."""
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    return code.torch(node.func) in SCHEDULERS or (name.startswith("get_") and "schedule" in name)


def maker_calls(code: Code, name: str) -> list[ast.Call]:
    return [
        call
        for call in code.calls.get(name, ())
        if code.torch(call.func) == name and not has_unpacked(call) and not is_dead(code, call)
    ]


def steps_of(code: Code, maker: ast.Call) -> list[ast.Call]:
    """The calls to step() on the scheduler that this call creates."""
    return [
        step
        for step in code.calls.get("step", ())
        if receiver(step) is not None
        and (code.value(receiver(step)) is maker or creating_call(code, receiver(step)) is maker)
    ]


def stepped_per_epoch(code: Code, maker: ast.Call, length: ast.expr) -> ast.AST | None:
    """The first step of a schedule that counts batches, if all of its steps run once per epoch."""
    steps = steps_of(code, maker)
    per_epoch = [step for step in steps if is_per_epoch(code, step)]
    if not steps:
        places = configured(code, maker, "epoch")
        return places[0] if places and counts_batches(code, length) else None
    if len(per_epoch) < len(steps) or scheduler_leaves(code, steps[0]):
        return None
    loop = code.loops(steps[0])[0]
    if counts_batches(code, length) or is_multiple(code, length, loop):
        return steps[0]
    return None


def is_per_epoch(code: Code, step: ast.Call) -> bool:
    loops = code.loops(step)
    if not loops or isinstance(loops[0], ast.While):
        return False
    words = names(loops[0].iter) | names(loops[0].target)
    beside = optimizer_steps(code, loops[0])
    return (
        any(is_of_epochs(word) for word in words)
        and not is_over_batches(loops[0])
        and not any(code.loops(other)[:1] == loops[:1] for other in beside)  # one pass per batch
    )


def is_of_epochs(word: str) -> bool:
    """True if the word means an epoch or a number of epochs, unlike iters_per_epoch."""
    word = word.lower()
    return "epoch" in word and not any(part in word for part in LENGTHS)


def scheduler_leaves(code: Code, step: ast.Call) -> bool:
    """True if a function in another file receives the scheduler, and so may also step it."""
    name = path(receiver(step))
    own = {getattr(function, "name", "") for function in code.all(ast.FunctionDef)}
    return any(
        name in {path(part) for part in (*call.args, *(keyword.value for keyword in call.keywords))}
        for call in code.calls_in(code.function(step))
        if last_name(call.func) not in own | {"print", "isinstance", "hasattr"}
    )


def is_over_batches(loop: ast.AST) -> bool:
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return False
    words = {word.lower() for word in names(loop.iter)}
    if path(loop.iter).lower().endswith("loaders"):  # each pass covers all batches of one loader
        return False
    return any(
        ("loader" in word or "batches" in word) and "epoch" not in word  # not loader_per_epoch
        for word in words
    )


def count_of(loop: ast.AST) -> ast.expr | None:
    """The n in a loop such as `for _ in range(n)`."""
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return None
    iterated = loop.iter
    return (
        iterated.args[0]
        if last_name(iterated.func) == "range" and len(iterated.args) == 1
        else None
    )


def is_multiple(code: Code, length: ast.expr, loop: ast.AST) -> bool:
    """True if the length is the loop's count times a number of batches, judging by their names."""
    count = count_of(loop)
    value = code.value(length)
    words = {word.lower() for word in names(value)} if value is not None else set()
    return (
        count is not None
        and has_factor(code, length, count)
        and any(part in word for word in words for part in LENGTHS)
    )


def has_factor(code: Code, product: ast.expr, factor: ast.expr) -> bool:
    value = code.value(product)
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult):
        return False
    sides = (value.left, value.right)
    other = [constant(side) for side in sides if ast.dump(side) != ast.dump(factor)]
    return len(other) == 1 and other[0] is None


def counts_batches(code: Code, length: ast.expr, depth: int = 3) -> bool:
    """True if the length contains the length of a loader or a name for that length."""
    for part in ast.walk(length):
        if isinstance(part, ast.Call) and last_name(part.func) == "len" and part.args:
            loader = part.args[0]
            if "loader" in path(loader).lower() or code.made_by(loader, "DataLoader"):
                return True
        if not isinstance(part, (ast.Name, ast.Attribute)):
            continue
        if last_name(part) in STEPS:
            return True
        value = code.value(part)
        if not depth or not isinstance(value, ast.expr) or value is part:
            continue
        if counts_batches(code, value, depth - 1):
            return True
    return False


def configured(code: Code, maker: ast.Call, interval: str) -> list[ast.AST]:
    """The places where Lightning's configure_optimizers() gives the scheduler this interval."""
    function = code.function(maker)
    if getattr(function, "name", "") != "configure_optimizers":
        return []
    places: list[ast.AST] = []
    for returned in code.within(function, ast.Dict):
        keys = [constant(key) for key in returned.keys]
        if "scheduler" in keys and code.value(returned.values[keys.index("scheduler")]) is maker:
            by = returned.values[keys.index("interval")] if "interval" in keys else None
            if ("epoch" if by is None else constant(by)) == interval:
                places.append(returned)
        if (
            "lr_scheduler" in keys
            and code.value(returned.values[keys.index("lr_scheduler")]) is maker
        ):
            places += [returned] if interval == "epoch" else []
    for returned in code.within(function, ast.Return):
        pair = returned.value.elts if isinstance(returned.value, ast.Tuple) else []
        if len(pair) == 2 and isinstance(pair[1], (ast.List, ast.Tuple)):
            schedulers = [code.value(element) for element in pair[1].elts]
            places += [returned] if maker in schedulers and interval == "epoch" else []
    return places
