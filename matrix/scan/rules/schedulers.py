"""Schedules that are stepped at the wrong place, or in another unit than they count in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import (
    Code,
    Hit,
    argument,
    constant,
    has_unpacked,
    is_none,
    last_name,
    names,
    path,
    place,
    receiver,
    source,
)
from ..training import (
    SCHEDULERS,
    functions_called,
    is_dead,
    is_scheduler,
    made,
    optimizer_steps,
)
from . import needs

STEPS = frozenset({"estimated_stepping_batches", "steps_per_epoch", "num_batches", "batches"})
# Beside "epoch" in a name, these say that it is a length of an epoch and not a number of them.
LENGTHS = ("per_epoch", "iter", "step", "batch", "len", "size", "sample", "data")


@needs("step()", "sched|LR")
def scheduler_first_skips_a_rate(code: Code) -> Iterator[Hit]:
    for step in code.calls.get("step", ()):
        statement = code.statement(step)
        if not _is_bare(code, step) or not _is_torch_scheduler(code, receiver(step)):
            continue
        if not isinstance(statement, ast.Expr) or statement.value is not step:
            continue
        earlier = [
            call
            for call in optimizer_steps(code, code.function(step))
            if place(call) < place(step) and not code.excludes(call, step)
        ]
        block = code.block(statement)
        at = next(number for number, one in enumerate(block) if one is statement)
        if earlier or any(_steps_optimizer(code, one) for one in block[:at]):
            continue
        # A function that steps both once may be called by a loop that has stepped before.
        if code.function(step) is not code.tree and not code.loops(step):
            continue
        if any(_steps_optimizer(code, one) for one in block[at + 1 :]) and not is_dead(code, step):
            yield Hit(
                step,
                f"{source(step, 40)} comes before the first step of the optimizer: the schedule is "
                "one step ahead",
            )


@needs("ReduceLROnPlateau", "step()")
def plateau_needs_a_metric(code: Code) -> Iterator[Hit]:
    for step in code.calls.get("step", ()):
        scheduler = receiver(step)
        if not _is_bare(code, step) or scheduler is None or not path(scheduler):
            continue
        makers = [one for one in code.values(scheduler) if not is_none(one)]
        those = [one for one in makers if code.made_by(one, "ReduceLROnPlateau")]
        if not those or not all(isinstance(one, ast.Call) for one in makers):
            continue
        if any(not _is_maker(code, one) for one in makers):
            continue
        tests = {path(scheduler), "isinstance", "type", "hasattr", "ReduceLROnPlateau"}
        for one in those:
            tests |= _decided_by(code, one or step)
        around = _tests(code, step) + _early_ways_out(code, step)
        if any(names(test) & tests or source(scheduler) in source(test, 999) for test in around):
            continue
        if not any(isinstance(above, ast.Try) for above in code.ancestors(step)):
            yield Hit(
                step,
                f"{source(step, 40)} hands in no metric, and {source(scheduler)} may be a "
                "ReduceLROnPlateau, which decides by one",
            )


@needs("CosineAnnealingLR", "step|configure_optimizers")
def cosine_hardly_moves(code: Code) -> Iterator[Hit]:
    for maker in _makers(code, "CosineAnnealingLR"):
        length = argument(maker, 1, "T_max")
        if length is None:
            continue
        if (at := _stepped_per_epoch(code, maker, length)) is not None:
            yield Hit(
                at,
                f"this is done once per epoch, and T_max, {source(length)}, counts batches",
            )


@needs("OneCycleLR", "step|configure_optimizers")
def one_cycle_stays_in_its_warmup(code: Code) -> Iterator[Hit]:
    for maker in _makers(code, "OneCycleLR"):
        total = argument(maker, 2, "total_steps")
        if total is None or is_none(total):
            total = argument(maker, 4, "steps_per_epoch")
        if total is None:
            continue
        if (at := _stepped_per_epoch(code, maker, total)) is not None:
            yield Hit(
                at,
                f"this is done once per epoch, and the length of the cycle, {source(total)}, "
                "counts batches",
            )


@needs("CosineAnnealingLR", "step|configure_optimizers")
def cosine_rises_again(code: Code) -> Iterator[Hit]:
    for maker in _makers(code, "CosineAnnealingLR"):
        length = argument(maker, 1, "T_max")
        if length is None or not _counts_epochs(code, length):
            continue
        places = [
            step for step in _steps_of(code, maker) if _is_per_batch(code, step, length)
        ] or _configured(code, maker, "step")
        if places:
            yield Hit(
                places[0],
                f"this is done for every batch, and T_max, {source(length)}, counts epochs",
            )


# --- what the rules above share -------------------------------------------------------------------


def _is_bare(code: Code, step: ast.Call) -> bool:
    """Whether it is scheduler.step()."""
    return not step.args and not step.keywords and is_scheduler(code, receiver(step))


def _is_maker(code: Code, node: ast.AST | None) -> bool:
    """Whether it makes one of torch's schedulers, or one of transformers', which are LambdaLR."""
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    return code.torch(node.func) in SCHEDULERS or (name.startswith("get_") and "schedule" in name)


def _is_torch_scheduler(code: Code, scheduler: ast.expr | None) -> bool:
    """Whether all that the name is given are schedulers that have set the first rate at once."""
    if scheduler is None or not path(scheduler):
        return False
    if code.torch(scheduler):  # of a fragment
        return True
    makers = [one for one in code.values(scheduler) if not is_none(one)]
    if len(makers) == 1 and makers[0] is None:
        makers = [made(code, scheduler)]
    return bool(makers) and all(
        _is_maker(code, one) and not code.made_by(one, "ReduceLROnPlateau") for one in makers
    )


def _steps_optimizer(code: Code, statement: ast.stmt) -> bool:
    """Whether it steps an optimizer, itself or in a function of this file that it calls."""
    if optimizer_steps(code, statement):
        return True
    return any(optimizer_steps(code, one) for one in functions_called(code, statement))


def _tests(code: Code, node: ast.AST) -> list[ast.expr]:
    """The tests of all `if`s that it is in, in whichever branch."""
    return [one.test for one in code.ancestors(node) if isinstance(one, (ast.If, ast.IfExp))]


def _decided_by(code: Code, maker: ast.AST) -> set[str]:
    """The names that tell whether this maker ran: those of the tests that it stands under, what
    else is given one of those tests, and the flags that are set beside it.
    """
    tests = _tests(code, maker)
    kinds = (ast.Name, ast.Attribute, ast.Compare)
    parts = {ast.dump(one) for test in tests for one in ast.walk(test) if isinstance(one, kinds)}
    statement = code.statement(maker)
    beside = code.block(statement) if isinstance(code.parent[statement], ast.If) else []
    told = {
        last_name(one.targets[0])
        for one in code.nodes.get(ast.Assign, ())
        if isinstance(one, ast.Assign)
        and (
            (isinstance(one.value, kinds) and ast.dump(one.value) in parts)
            or (one in beside and isinstance(one.value, ast.Constant))
        )
    }
    return told.union(*(names(test) for test in tests)) - {""}


def _early_ways_out(code: Code, step: ast.Call) -> list[ast.expr]:
    """The tests before it in whose branch the pass, or the function, ends."""
    return [
        one.test
        for one in code.within(code.function(step), ast.If)
        if place(one) < place(step) and isinstance(one.body[-1], (ast.Continue, ast.Return))
    ]


def _makers(code: Code, name: str) -> list[ast.Call]:
    return [
        call
        for call in code.calls.get(name, ())
        if code.torch(call.func) == name and not has_unpacked(call) and not is_dead(code, call)
    ]


def _steps_of(code: Code, maker: ast.Call) -> list[ast.Call]:
    """The calls of step() of the scheduler that is made here."""
    return [
        step
        for step in code.calls.get("step", ())
        if receiver(step) is not None
        and (code.value(receiver(step)) is maker or made(code, receiver(step)) is maker)
    ]


def _stepped_per_epoch(code: Code, maker: ast.Call, length: ast.expr) -> ast.AST | None:
    """Where a schedule that counts batches is stepped, if that is once per epoch everywhere."""
    steps = _steps_of(code, maker)
    per_epoch = [step for step in steps if _is_per_epoch(code, step)]
    if not steps:
        found = _configured(code, maker, "epoch")
        return found[0] if found and _counts_batches(code, length) else None
    if len(per_epoch) < len(steps) or _scheduler_leaves(code, steps[0]):
        return None
    loop = code.loops(steps[0])[0]
    if _counts_batches(code, length) or _is_multiple(code, length, loop):
        return steps[0]
    return None


def _is_per_epoch(code: Code, step: ast.Call) -> bool:
    loops = code.loops(step)
    if not loops or isinstance(loops[0], ast.While):
        return False
    words = names(loops[0].iter) | names(loops[0].target)
    beside = optimizer_steps(code, loops[0])
    return (
        any(_is_of_epochs(word) for word in words)
        and not _is_over_batches(loops[0])
        and not any(code.loops(one)[:1] == loops[:1] for one in beside)  # one pass is one batch
    )


def _is_of_epochs(word: str) -> bool:
    """Whether it is an epoch or a number of them, by its name: not iters_per_epoch."""
    word = word.lower()
    return "epoch" in word and not any(one in word for one in LENGTHS)


def _scheduler_leaves(code: Code, step: ast.Call) -> bool:
    """Whether a function of another file is given the scheduler, and may step it too."""
    name = path(receiver(step))
    own = {getattr(one, "name", "") for one in code.nodes.get(ast.FunctionDef, ())}
    return any(
        name in {path(part) for part in (*call.args, *(one.value for one in call.keywords))}
        for call in code.calls_in(code.function(step))
        if last_name(call.func) not in own | {"print", "isinstance", "hasattr"}
    )


def _is_over_batches(loop: ast.AST) -> bool:
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return False
    words = {word.lower() for word in names(loop.iter)}
    if path(loop.iter).lower().endswith("loaders"):  # one pass is all batches of one of them
        return False
    return any(
        ("loader" in word or "batches" in word) and "epoch" not in word  # loader_per_epoch
        for word in words
    )


def _is_per_batch(code: Code, step: ast.Call, length: ast.expr) -> bool:
    loops = code.loops(step)
    if step.args or step.keywords:  # step(epoch + i / batches)
        return False
    if not loops or code.parent[code.statement(step)] is not loops[0]:
        return False
    if isinstance(loops[0], ast.While):
        return False
    if _is_over_batches(loops[0]) and "range" not in names(loops[0].iter):
        return True
    count = _count(loops[0])
    return count is not None and count is not length and _has_factor(code, count, length)


def _count(loop: ast.AST) -> ast.expr | None:
    """n of `for _ in range(n)`."""
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return None
    iterated = loop.iter
    return (
        iterated.args[0]
        if last_name(iterated.func) == "range" and len(iterated.args) == 1
        else None
    )


def _is_multiple(code: Code, length: ast.expr, loop: ast.AST) -> bool:
    """Whether it is how often the loop runs, times a number of batches, by its name."""
    count = _count(loop)
    value = code.value(length)
    words = {word.lower() for word in names(value)} if value is not None else set()
    return (
        count is not None
        and _has_factor(code, length, count)
        and any(part in word for word in words for part in LENGTHS)
    )


def _has_factor(code: Code, product: ast.expr, factor: ast.expr) -> bool:
    value = code.value(product)
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult):
        return False
    sides = (value.left, value.right)
    other = [constant(side) for side in sides if ast.dump(side) != ast.dump(factor)]
    return len(other) == 1 and other[0] is None


def _counts_batches(code: Code, length: ast.expr, depth: int = 3) -> bool:
    """Whether it has the length of a loader in it, or what is named so."""
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
        if _counts_batches(code, value, depth - 1):
            return True
    return False


def _counts_epochs(code: Code, length: ast.expr) -> bool:
    """Whether it is a number of epochs, by its name, or that less some."""
    if not path(length) or not _is_of_epochs(last_name(length)):
        return False
    value = code.value(length)
    return not (
        isinstance(value, ast.expr) and value is not length and _counts_batches(code, value)
    )


def _configured(code: Code, maker: ast.Call, interval: str) -> list[ast.AST]:
    """Where configure_optimizers() of Lightning returns it to be stepped once per epoch or step."""
    function = code.function(maker)
    if getattr(function, "name", "") != "configure_optimizers":
        return []
    found: list[ast.AST] = []
    for given in code.within(function, ast.Dict):
        keys = [constant(key) for key in given.keys]
        if "scheduler" in keys and code.value(given.values[keys.index("scheduler")]) is maker:
            by = given.values[keys.index("interval")] if "interval" in keys else None
            if ("epoch" if by is None else constant(by)) == interval:
                found.append(given)
        if "lr_scheduler" in keys and code.value(given.values[keys.index("lr_scheduler")]) is maker:
            found += [given] if interval == "epoch" else []
    for given in code.within(function, ast.Return):
        pair = given.value.elts if isinstance(given.value, ast.Tuple) else []
        if len(pair) == 2 and isinstance(pair[1], (ast.List, ast.Tuple)):
            those = [code.value(one) for one in pair[1].elts]
            found += [given] if maker in those and interval == "epoch" else []
    return found
