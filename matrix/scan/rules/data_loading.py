"""Datasets, loaders, samplers and copies between devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import (
    COMPREHENSIONS,
    Code,
    Hit,
    argument,
    constant,
    end,
    has_unpacked,
    last_name,
    path,
    place,
    source,
)
from ..training import default, in_a_test, is_dead
from . import needs

GENERATORS = (
    "random.Random",
    "numpy.random.default_rng",
    "numpy.random.RandomState",
    "torch.Generator",
)
RESEEDS = ("seed", "manual_seed", "setstate", "set_state")
WAITS = ("wait", "sync", "barrier", "query")
BLOCKS = ("item", "tolist", "cpu", "numpy", "print", "info")  # each waits for the device
READS = {
    *("numpy", "item", "tolist", "sum", "mean", "max", "min", "argmax", "any", "all", "clone"),
    *("save", "stack", "cat", "vstack", "hstack", "concat", "array", "asarray", "concatenate"),
    *("float", "int", "bool", "print", "equal", "allclose"),
}


@needs("Random(|default_rng(|RandomState(|Generator(", "__getitem__")
def worker_generators_are_clones(code: Code) -> Iterator[Hit]:
    for owner in code.nodes.get(ast.ClassDef, ()):
        methods = {one.name: one for one in owner.body if isinstance(one, ast.FunctionDef)}  # type: ignore[attr-defined]
        if not ({"__init__", "__getitem__"} <= methods.keys() and _is_dataset(owner, methods)):
            continue
        for target in code.within(methods["__init__"], ast.Attribute):
            name, values = path(target), code.values(target)
            if not isinstance(target.ctx, ast.Store) or not name.startswith("self."):
                continue
            made = _generator(code, values[0]) if len(values) == 1 else None
            uses = [use for use in _reached(methods) if path(use) == name]
            if made is None or not uses or any(_reseeds(code, use) for use in ast.walk(owner)):
                continue
            if _is_given_from_outside(code, owner, target.attr):
                continue
            if all(_in_a_while(code, use) for use in uses):  # another row instead of a broken one
                continue
            yield Hit(
                made,
                f"the workers of a DataLoader get equal copies of {name}: each draws the same "
                "numbers",
            )


def _is_dataset(owner: ast.AST, methods: dict[str, ast.FunctionDef]) -> bool:
    bases = [last_name(base) for base in getattr(owner, "bases", ())]
    known = any(name.endswith(("Dataset", "ImageFolder", "DatasetFolder")) for name in bases)
    return known and not any("Iterable" in name for name in bases) and "__iter__" not in methods


def _generator(code: Code, value: ast.expr | None) -> ast.Call | None:
    """The call that makes the generator: random.Random(0), `rng or default_rng()`,
    torch.Generator().manual_seed(0).
    """
    if isinstance(value, ast.IfExp):
        return _generator(code, value.body) or _generator(code, value.orelse)
    if isinstance(value, ast.BoolOp):
        return _generator(code, value.values[-1])
    if not isinstance(value, ast.Call):
        return None
    if code.full(value.func) in GENERATORS:
        return value
    inner = value.func.value if isinstance(value.func, ast.Attribute) else None
    return _generator(code, inner) if last_name(value.func) == "manual_seed" else None


def _reached(methods: dict[str, ast.FunctionDef]) -> Iterator[ast.Attribute]:
    """The attributes that __getitem__ reads, also by way of other methods."""
    seen, todo = set(), ["__getitem__"]
    while todo:
        name = todo.pop()
        if name in seen or name not in methods:
            continue
        seen.add(name)
        for one in ast.walk(methods[name]):
            if isinstance(one, ast.Attribute) and path(one.value) == "self":
                todo.append(one.attr)
                if isinstance(one.ctx, ast.Load):
                    yield one


def _reseeds(code: Code, node: ast.AST) -> bool:
    """Whether it may give a worker's copy numbers of its own: a method that seeds, outside of
    __init__, or a question which worker this is.
    """
    if isinstance(node, (ast.Name, ast.Attribute)) and last_name(node) == "get_worker_info":
        return True
    function = code.function(node)
    return (
        isinstance(node, ast.Call)
        and last_name(node.func) in RESEEDS
        and isinstance(function, ast.FunctionDef)
        and function.name != "__init__"
    )


def _is_given_from_outside(code: Code, owner: ast.AST, attribute: str) -> bool:
    """Whether other code of the file gives the dataset another generator, or seeds it, as a
    worker_init_fn does.
    """
    for one in code.nodes.get(ast.Attribute, ()):
        if (
            isinstance(one, ast.Attribute)
            and one.attr == attribute
            and code.owner(one) is not owner
        ):
            above = code.parent[one]
            seeds = isinstance(above, ast.Attribute) and above.attr in RESEEDS
            if path(one.value) != "self" and (seeds or isinstance(one.ctx, ast.Store)):
                return True
    return False


def _in_a_while(code: Code, node: ast.AST) -> bool:
    return any(isinstance(loop, ast.While) for loop in code.loops(node))


@needs("non_blocking", "cpu|pin_memory")
def nonblocking_to_host_races(code: Code) -> Iterator[Hit]:
    for copy in code.calls.get("to", []) + code.calls.get("copy_", []):
        if constant(argument(copy, -1, "non_blocking")) is not True:
            continue
        if last_name(copy.func) == "to" and not _is_cpu(code, _device(copy)):
            continue
        if last_name(copy.func) == "copy_" and not _is_pinned(code, copy):
            continue
        read = _read_of(code, copy)
        if read is not None and not _waits_between(code, copy, read):
            yield Hit(
                copy,
                f"{source(read, 40)} in line {place(read)[0]} reads what this copy may not have "
                "brought to the CPU yet",
            )


def _device(call: ast.Call) -> ast.expr | None:
    return argument(call, 0, "device")


def _is_cpu(code: Code, device: ast.expr | None) -> bool:
    value = code.value(device)
    if isinstance(value, ast.Call) and code.torch(value.func) == "device":
        value = argument(value, 0, "device")
    return constant(value) == "cpu"


def _is_pinned(code: Code, copy: ast.Call) -> bool:
    """Whether what is copied into is pinned memory, and the name of nothing else."""
    target = copy.func.value if isinstance(copy.func, ast.Attribute) else None
    value = code.value(target)
    if not path(target) or not isinstance(value, ast.Call):
        return False
    return constant(argument(value, -1, "pin_memory")) is True or (
        last_name(value.func) == "pin_memory"
    )


def _read_of(code: Code, copy: ast.Call) -> ast.AST | None:
    """What reads the copy on the CPU, first."""
    if last_name(copy.func) == "copy_" and isinstance(copy.func, ast.Attribute):
        return _first_host_read(code, path(copy.func.value), copy)
    if (read := _value_read(code, copy)) is not None:
        return read
    above = code.parent[copy]
    if isinstance(above, COMPREHENSIONS):
        above = code.parent[above]
    if isinstance(above, ast.Assign) and len(above.targets) == 1:
        return _first_host_read(code, path(above.targets[0]), above)
    if isinstance(above, ast.Call) and last_name(above.func) == "append":
        return _first_host_read(code, path(above.func.value), above)  # type: ignore[attr-defined]
    return None


def _first_host_read(code: Code, name: str, after: ast.AST) -> ast.AST | None:
    """What reads this name, or a list that it is appended to, after this place."""
    function = code.function(after)
    for one in code.within(function, (ast.Name, ast.Attribute)):
        if path(one) != name or place(one) <= end(after) or code.excludes(one, after):
            continue
        if not isinstance(one.ctx, ast.Load):
            return None  # the name stands for something else now
        above = code.parent[one]
        if isinstance(above, ast.Call) and last_name(above.func) == "append":
            return _first_host_read(code, path(above.func.value), above)  # type: ignore[attr-defined]
        if (read := _value_read(code, one) or _returned_after(code, one)) is not None:
            return read
    return None


def _returned_after(code: Code, name: ast.AST) -> ast.Return | None:
    """The `return data` after `data.x = name`: the caller cannot know that it has to wait."""
    statement = code.statement(name)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Attribute):
        return None
    owner = path(statement.targets[0].value)
    returns = code.within(code.function(name), ast.Return)
    later = (one for one in returns if place(one) > place(statement))
    return next((one for one in later if owner and path(one.value) == owner), None)


def _value_read(code: Code, node: ast.AST) -> ast.AST | None:
    """The call or comparison that reads the values of this."""
    above = code.parent[node]
    while isinstance(above, ast.Subscript) and node is above.value:
        node, above = above, code.parent[above]
    if isinstance(above, ast.BinOp):
        return above
    if isinstance(above, ast.Compare):
        known = any(isinstance(one, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for one in above.ops)
        return None if known else above
    if isinstance(above, ast.Attribute):
        called = code.parent[above]
        is_called = isinstance(called, ast.Call) and called.func is above
        return called if is_called and above.attr in READS else None
    if isinstance(above, ast.Call) and node is not above.func:
        return above if last_name(above.func) in READS else None
    return None


def _waits_between(code: Code, copy: ast.AST, read: ast.AST) -> bool:
    """Whether something between the two waits for the device."""
    for call in code.calls_in(code.function(copy)):
        if not end(copy) < place(call) < place(read) or read in ast.walk(call):
            continue
        name = last_name(call.func).lower()
        to_host = name == "to" and _is_cpu(code, _device(call))
        blocks = constant(argument(call, -1, "non_blocking")) is not True
        if any(word in name for word in WAITS) or name in BLOCKS or (to_host and blocks):
            return True
        is_bare = isinstance(call.func, ast.Name) and not call.args and not call.keywords
        if is_bare and isinstance(code.parent[call], ast.Expr):  # wait_for_all(), of whatever name
            return True
    return False


@needs("random_split", ".dataset.")
def transform_of_one_split_changes_both(code: Code) -> Iterator[Hit]:
    for split, parts in _splits(code):
        for one in code.within(code.function(split), ast.Assign):
            target = one.targets[0]
            owner = target.value if isinstance(target, ast.Attribute) else None
            if (
                place(one) > place(split)
                and isinstance(owner, ast.Attribute)
                and owner.attr == "dataset"
                and path(owner.value) in parts
                and _is_about_rows(target.attr)
                and last_name(getattr(one.value, "func", one)) != "Normalize"  # meant for all
                and not any(_has_its_own(code, split, part) for part in parts)
            ):
                yield Hit(
                    one,
                    f"{source(owner)} is the dataset of all parts of the split: this changes "
                    f"{' and '.join(part for part in parts if part != '_')}",
                )


@needs("random_split", "transform")
def split_shares_its_transform(code: Code) -> Iterator[Hit]:
    for split, parts in _splits(code):
        made = code.value(argument(split, 0, "dataset"))
        given = argument(made, -1, "transform") if isinstance(made, ast.Call) else None
        changed = [
            one
            for one in code.within(code.function(split), ast.Attribute)
            if one.attr in ("dataset", "indices") and path(one.value) in parts
        ]
        used = [part for part in parts if part != "_"]
        if given is not None and len(used) > 1 and not changed and _augments(code, given):
            yield Hit(
                split,
                f"{' and '.join(used)} share one dataset: {source(given, 40)} changes the rows of "
                "each",
            )


def _splits(code: Code) -> Iterator[tuple[ast.Call, list[str]]]:
    """The calls of random_split(), and the names of the parts."""
    for call in code.calls.get("random_split", ()):
        above = code.parent[call]
        if code.torch(call.func) and isinstance(above, ast.Assign):
            target = above.targets[0]
            if isinstance(target, (ast.Tuple, ast.List)):
                parts = [one.value if isinstance(one, ast.Starred) else one for one in target.elts]
                yield call, [path(one) for one in parts]


def _is_about_rows(name: str) -> bool:
    return any(part in name for part in ("transform", "augment")) or name in ("train", "mode")


def _has_its_own(code: Code, split: ast.Call, part: str) -> bool:
    """Whether a part is given a dataset of its own, or is replaced."""
    return any(
        path(target) == f"{part}.dataset"
        for one in code.within(code.function(split), ast.Assign)
        for target in one.targets
    )


def _augments(code: Code, transform: ast.expr) -> bool:
    """Whether it changes rows at random: by what it is made of, else by its name."""
    value = code.value(transform)
    if isinstance(value, ast.Call):
        return any(
            isinstance(one, ast.Call)
            and (last_name(one.func).startswith("Random") or last_name(one.func) == "ColorJitter")
            for one in ast.walk(value)
        )
    return "augment" in last_name(transform).lower()


@needs("next(iter(", "DataLoader")
def next_iter_restarts_the_loader(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("next", ()):
        inner = call.args[0] if len(call.args) == 1 else None
        if not isinstance(inner, ast.Call) or path(inner.func) != "iter" or not inner.args:
            continue
        loader, loops = inner.args[0], code.loops(call)
        made = code.value(loader)
        if not loops or not isinstance(made, ast.Call) or code.torch(made.func) != "DataLoader":
            continue
        loop = loops[0]
        leaves = any(
            isinstance(one, (ast.Break, ast.Return)) for one in code.block(code.statement(call))
        )
        if (
            _is_in_order(made)
            and not in_a_test(code, call)
            and not leaves
            and made not in ast.walk(loop)
            and not any(isinstance(one, ast.ExceptHandler) for one in code.ancestors(call))
            and not any(part in source(loader).lower() for part in ("val", "test", "eval"))
        ):
            yield Hit(call, f"{source(call)} is the first batch in each pass of this loop")


def _is_in_order(made: ast.Call) -> bool:
    """Whether the loader certainly gives the same rows in each epoch."""
    if has_unpacked(made) or len(made.args) > 2:
        return False
    if any(argument(made, -1, name) is not None for name in ("sampler", "batch_sampler")):
        return False
    shuffle = argument(made, 2, "shuffle")
    return shuffle is None or constant(shuffle) is False


@needs("sampler", "shuffle", "DataLoader")
def sampler_excludes_shuffle(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("DataLoader", ()):
        shuffle = argument(call, 2, "shuffle")
        if code.torch(call.func) != "DataLoader" or constant(shuffle) is not True:
            continue
        for name in ("sampler", "batch_sampler"):
            sampler = argument(call, -1, name)
            if sampler is None or in_a_test(code, call) or _may_be_none(code, sampler):
                continue
            yield Hit(call, f"shuffle=True beside {name}={source(sampler, 30)} raises")


def _may_be_none(code: Code, node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return _may_be_none(code, node.body) or _may_be_none(code, node.orelse)
    if isinstance(node, ast.Constant):
        return node.value is None
    given = code.values(node) if path(node) else []
    if isinstance(node, ast.Attribute) and not given:
        return True  # of a class above, or of options
    return any(one is None or _may_be_none(code, one) for one in given if one is not node)


@needs("DataLoader", "num_workers", "lambda|def ")
def lambda_cannot_be_pickled(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("DataLoader", ()):
        workers = argument(call, 5, "num_workers")
        context = argument(call, -1, "multiprocessing_context")
        if workers is None or in_a_test(code, call) or is_dead(code, call):
            continue
        if 0 in (constant(code.value(workers)), constant(default(code, workers))):
            continue
        if not code.torch(call.func) or constant(context) == "fork":
            continue
        for name in ("collate_fn", "worker_init_fn"):
            given = argument(call, -1, name)
            if given is not None and (what := _local(code, given)):
                yield Hit(given, f"{name} is {what}, which cannot be sent to a spawned worker")


def _local(code: Code, given: ast.expr) -> str:
    """ "a lambda", "a function inside of another", or "" for what can be found by its name."""
    if isinstance(code.value(given), ast.Lambda):
        return "a lambda"
    if not isinstance(given, ast.Name):
        return ""
    defined = [
        one
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef)
        for one in code.nodes.get(kind, ())
        if getattr(one, "name", "") == given.id
        and isinstance(code.parent[one], (ast.FunctionDef, ast.AsyncFunctionDef))
        and code.parent[one] in [code.function(given), *code.ancestors(code.function(given))]
    ]
    return "a function inside of another" if defined else ""
