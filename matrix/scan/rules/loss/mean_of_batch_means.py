from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from ...code import (
    Code,
    Hit,
    argument,
    constant,
    end,
    has_unpacked,
    last_name,
    names,
    path,
    place,
    receiver,
    remembered,
    source,
)
from ...training import creating_call, is_fragment, is_loader
from .. import needs
from .shared import with_its_maker

SAME = ("item", "detach", "cpu", "float", "clone", "numpy", "tolist", "double")  # loss.cpu().item()
MEANS = ("mean", "average", "fmean", "nanmean")
ARRAYS = ("array", "asarray", "tensor", "Tensor", "FloatTensor", "stack")
METERS = ("meter", "monitor", "averag", "avg", "meanmetric", "hist", "tracker")
READS = (
    *("avg", "average", "value", "mean", "compute", "val_avg", "get_avg", "get_average"),
    *("get_value", "get_mean"),
)
# the last words of names that stand for the mean of a batch
METRICS = re.compile(
    r"loss|(^|_)(acc|accuracy|psnr|ssim|iou|miou|dice|mse|mae|rmse)(_?(val|value|batch))?$"
)
COUNTS = ("sum", "item_count", "count_nonzero", "numel")


class Addition(NamedTuple):
    """A statement that adds the mean of a batch to a total."""

    statement: ast.stmt
    total: str


Division = tuple[ast.expr | ast.AugAssign, ast.expr, ast.expr]  # with the total and the count


@needs("+=|.append(|.update(|.send(| + ", "len(|mean(|average(|/=| / |avg|.value|.compute|.get_")
def mean_of_batch_means(code: Code) -> Iterator[Hit]:
    for mean in _means_of_lists(code):
        yield Hit(mean, f"{source(mean)} gives more weight to the rows of a shorter last batch")
    for update in _means_of_meters(code):
        meter = source(receiver(update) or update, 40)
        yield Hit(
            update,
            f"{meter} gives the mean of a shorter last batch the weight of a full batch",
        )
    for division, total, count in _divisions(code):
        if any(
            addition.total == source(total)
            and place(addition.statement) < place(division)
            and _counts_batches(code, count, addition.statement)
            for addition in _additions(code, code.function(division))
        ):
            yield Hit(
                division,
                f"{source(division)} gives more weight to the rows of a shorter last batch",
            )


def _divisions(code: Code) -> Iterator[Division]:
    """Yields total / count and total /= count, if the total has a name or a key."""
    for division in code.all(ast.BinOp):
        total = _unconverted(division.left)
        if isinstance(division.op, ast.Div) and _is_kept(total):
            yield division, total, division.right
    for update in code.all(ast.AugAssign):
        if isinstance(update.op, ast.Div) and _is_kept(update.target):
            yield update, update.target, update.value


def _is_kept(total: ast.AST) -> bool:
    """True for a name, and for totals["loss"]."""
    return bool(path(total.value if isinstance(total, ast.Subscript) else total))


def _means_of_lists(code: Code) -> Iterator[ast.expr]:
    """Yields np.mean(losses) and sum(losses) / len(losses), of the losses of a loader's batches."""
    lists = _lists_of_losses(code)
    taken: list[tuple[ast.expr, ast.expr]] = []
    for call in (call for name in MEANS for call in code.calls.get(name, ()) if call.args):
        inner = call.args[0]
        if isinstance(inner, ast.Call) and last_name(inner.func) in ARRAYS and inner.args:
            inner = inner.args[0]
        taken.append((call, inner))
    for division in code.all(ast.BinOp) if lists else ():
        total = division.left
        if (
            isinstance(division.op, ast.Div)
            and isinstance(total, ast.Call)
            and total.args
            and last_name(total.func) == "sum"
            and source(_at_least_1(division.right)) == f"len({source(total.args[0])})"
        ):
            taken.append((division, total.args[0]))
    for mean, losses in taken:
        if (path(losses), _space(code, losses)) in lists and not _is_a_window(code, losses):
            yield mean


def _is_a_window(code: Code, losses: ast.expr) -> bool:
    """True if the list has only the latest losses: a deque, or a list that the loop empties."""
    if any(
        last_name(value.func) == "deque"
        for value in code.values(losses)
        if isinstance(value, ast.Call)
    ):
        return True
    loop = _loader_loop(code, losses)
    return loop is not None and any(
        path(losses) in map(path, assignment.targets)
        for assignment in code.within(loop, ast.Assign)
    )


def _space(code: Code, name: ast.AST) -> ast.AST | None:
    return code.owner(name) if path(name).startswith("self.") else code.function(name)


def _lists_of_losses(code: Code) -> set[tuple[str, ast.AST | None]]:
    """(name, its function or class) of each list of the losses of a loader's batches.

    A list that a function returns is also known by the name that receives it.
    """
    kept: list[tuple[ast.expr, ast.expr]] = [
        (holder, put.args[0])
        for put in code.calls.get("append", ())
        if len(put.args) == 1 and (holder := receiver(put)) is not None
    ]
    kept += [
        (addition.target, addition.value.elts[0])
        for addition in code.all(ast.AugAssign)  # losses += [loss.item()]
        if isinstance(addition.value, ast.List) and len(addition.value.elts) == 1
    ]
    lists = {
        (path(holder), _space(code, holder)): code.function(holder)
        for holder, value in kept
        if path(holder) and _is_a_mean(code, value) and _loader_loop(code, value) is not None
    }
    found = set(lists)
    for (name, _), function in lists.items():
        positions = _returned(code, function, name)
        if positions and isinstance(function, ast.FunctionDef):
            for call in code.calls.get(function.name, ()):
                found |= {
                    (path(target), _space(code, target))
                    for target in _receivers(code, call, positions)
                    if path(target)
                }
    return found


def _returned(code: Code, function: ast.AST, name: str) -> set[int]:
    """The position of the name in what the function returns; -1 stands for the whole."""
    positions = set()
    for statement in code.within(function, ast.Return):
        value = statement.value
        if path(value) == name:
            positions.add(-1)
        elif isinstance(value, ast.Tuple):
            positions |= {at for at, part in enumerate(value.elts) if path(part) == name}
    return positions


def _receivers(code: Code, call: ast.Call, positions: set[int]) -> list[ast.expr]:
    """The names that receive these parts of the result of a call."""
    statement = code.parent[call]
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target = statement.targets[0]
    if isinstance(target, ast.Tuple):
        return [part for at, part in enumerate(target.elts) if at in positions]
    return [target] if -1 in positions else []


def _means_of_meters(code: Code) -> Iterator[ast.Call]:
    """Yields meter.update(loss.item()), without the number of rows, if the mean is read later."""
    for name in ("update", "send"):
        for update in code.calls.get(name, ()):
            values = [value for value in update.args if constant(value) is None]
            rest = [constant(value) for value in update.args if constant(value) is not None]
            if len(values) != 1 or update.keywords or not _is_a_mean(code, values[0]):
                continue
            if any(value != 1 and not isinstance(value, str) for value in rest):
                continue
            if _loader_loop(code, update) is not None and _is_a_meter(code, receiver(update)):
                yield update


def _is_a_meter(code: Code, meter: ast.expr | None) -> bool:
    """True if the object keeps a mean, judging by the names of its class and its attributes."""
    if meter is None:
        return False
    maker = creating_call(code, meter)
    words = f"{source(meter)} {source(maker) if maker is not None else ''}".lower()
    if "smooth" in words or "ema" in words.split("_") or "window" in words:
        return False
    holder = source(meter)
    reads = any(
        source(part.value) == holder for part in code.all(ast.Attribute) if part.attr in READS
    )
    return reads or any(word in words for word in METERS)


def _loader_loop(code: Code, node: ast.AST) -> ast.For | None:
    """The innermost loop around the node, if it is over a loader that keeps its last batch."""
    loop = next(iter(code.loops(node)), None)
    if not isinstance(loop, ast.For) or "dataset" in names(loop.iter):
        return None
    if isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) in ("items", "values"):
        return None  # a loop over several loaders
    parts = [*ast.walk(loop.iter), *(one for n in ast.walk(loop.iter) for one in _values(code, n))]
    if not any(is_loader(code, part) for part in parts if isinstance(part, ast.expr)):
        return None
    return None if _has_equal_batches(code, loop.iter) else loop


def _counts_batches(code: Code, count: ast.expr, addition: ast.stmt) -> bool:
    """True for len(loader), its name, a counter of the loop's passes, and i + 1 after the loop."""
    loop = _loader_loop(code, addition)
    if loop is None:
        return False
    count = _at_least_1(count)
    value = _at_least_1(code.value(count) or count)
    if isinstance(value, ast.Call) and path(value.func) == "len" and len(value.args) == 1:
        loader, over = path(value.args[0]), code.value(loop.iter) or loop.iter
        around = [*ast.walk(loop.iter), *ast.walk(over)]
        around += [inner for part in around for inner in _values(code, part)]
        is_length = bool(loader) and is_loader(code, value.args[0])
        return is_length and any(path(part) == loader for part in around)
    if place(count) < end(loop):  # the progress of an unfinished epoch
        return False
    if isinstance(count, ast.BinOp) and isinstance(count.op, ast.Add):
        return constant(count.right) == 1 and path(count.left) == _number(loop)
    return bool(path(count)) and any(
        path(other.target) == path(count)
        and constant(other.value) == 1
        and code.loops(other)[:1] == [loop]
        and set(code.conditions(other)) <= set(code.conditions(addition))
        for other in code.within(loop, ast.AugAssign)
    )


def _values(code: Code, name: ast.AST) -> list[ast.AST]:
    value = code.value(name) if path(name) else None
    return list(ast.walk(value)) if value is not None and value is not name else []


def _number(loop: ast.For) -> str | None:
    """The name i in `for i, batch in enumerate(loader)`."""
    is_numbered = "enumerate" in {last_name(part) for part in ast.walk(loop.iter)}
    target = loop.target
    return path(target.elts[0]) if isinstance(target, ast.Tuple) and is_numbered else None


def _at_least_1(count: ast.AST) -> ast.expr:
    """The count in max(count, 1), max(1, count) and float(count)."""
    if isinstance(count, ast.Call) and last_name(count.func) in ("max", "float", "int"):
        others = [value for value in count.args if constant(value) is None]
        if len(others) == 1:
            return others[0]
    assert isinstance(count, ast.expr)
    return count


def _has_equal_batches(code: Code, loader: ast.expr) -> bool:
    """True if the loader, or the loader in enumerate(loader), drops a shorter last batch, or if
    each batch has one row.
    """
    made = [code.value(part) for part in ast.walk(loader) if path(part)]
    made += [inner for part in made if part is not None for inner in _values(code, part)]
    return any(
        isinstance(call, ast.Call)
        and (constant(argument(call, 8, "drop_last")) is True or _has_single_rows(code, call))
        for call in made
    )


def _has_single_rows(code: Code, call: ast.Call) -> bool:
    """True for DataLoader(rows), and for a call with batch_size=1."""
    is_loader_call = code.torch(call.func) == "DataLoader"
    size = argument(call, 1 if is_loader_call else -1, "batch_size")
    if size is None:
        sampled = argument(call, 4, "batch_sampler")
        return is_loader_call and sampled is None and not has_unpacked(call)
    return constant(code.value(size)) == 1


@remembered
def _additions(code: Code, function: ast.AST) -> list[Addition]:
    """The unweighted `total += loss.item()` and `total = total + loss.item()` of a function."""
    added: list[tuple[ast.stmt, ast.expr, ast.expr]] = []
    for update in code.within(function, ast.AugAssign):
        if isinstance(update.op, ast.Add):
            added.append((update, update.target, update.value))
    for assignment in code.within(function, ast.Assign):
        total, target = assignment.value, assignment.targets[0]
        if (
            isinstance(total, ast.BinOp)
            and isinstance(total.op, ast.Add)
            and path(target)
            and path(total.left) == path(target)
        ):
            added.append((assignment, target, total.right))
    return [
        Addition(statement, source(target))
        for statement, target, value in added
        if _is_a_mean(code, value)
    ]


def _is_a_mean(code: Code, node: ast.expr) -> bool:
    """True for a loss, possibly as a number, unless it is a sum or a product."""
    loss = _unconverted(node)
    if path(loss) and "loss" not in last_name(loss).lower():
        return _is_named(code, loss)
    for _ in range(4):
        if isinstance(loss, ast.Call):
            return _computes_a_mean(code, loss)
        if not path(loss) and not isinstance(loss, ast.Subscript):
            return False
        value = code.value(loss) if path(loss) else None
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) and _has_rows(value):
            return False
        if not isinstance(value, ast.Call) or value is loss:
            break
        if _unconverted(value) is value:
            if last_name(value.func) == "sum" and path(value.func) != "sum":
                return False
            if _is_summed(code, value):
                return False
            break
        inner = _unconverted(value)
        if path(inner) == path(loss):
            break
        loss = inner
    return _is_named(code, loss)


def _is_named(code: Code, value: ast.expr) -> bool:
    """True for the name of a loss, or of a metric that is not a number of right predictions."""
    key = constant(value.slice) if isinstance(value, ast.Subscript) else last_name(value)
    if not isinstance(key, str) or not METRICS.search(key.lower()):
        return False
    if "loss" in key.lower() or isinstance(value, ast.Subscript):
        return True
    made = code.value(value)
    if made is None:  # psnr, ssim = measure(x, y)
        return not any(each is not None for each in code.values(value))
    return not any(word in COUNTS for word in names(made))


def _unconverted(node: ast.expr) -> ast.expr:
    """The loss in loss.detach().cpu().item(), float(loss) and loss.data."""
    while True:
        if isinstance(node, ast.Call) and last_name(node.func) in SAME:
            inner = receiver(node)
            if inner is None and len(node.args) == 1:
                inner = node.args[0]
            if inner is None:
                return node
            node = inner
        elif isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        else:
            return node


def _computes_a_mean(code: Code, call: ast.Call) -> bool:
    if _is_summed(code, call):
        return False
    if last_name(call.func) == "mean":  # loss.mean() of several GPUs
        loss = receiver(call)
        key = constant(loss.slice) if isinstance(loss, ast.Subscript) else path(loss)
        return isinstance(key, str) and "loss" in key.rpartition(".")[2].lower()
    if METRICS.search(last_name(call.func).lower()):
        return True
    return is_fragment(code) or any(
        "loss" in name.lower() or "crit" in name for name in names(call.func)
    )


def _is_summed(code: Code, call: ast.Call) -> bool:
    """True if the criterion has reduction="sum" or "none"."""
    return any(
        constant(argument(each, -1, "reduction")) in ("sum", "none")
        for each in with_its_maker(code, call)
    )


def _has_rows(product: ast.BinOp) -> bool:
    """True if a factor is a number of rows, as in loss.item() * x.size(0)."""
    words = {word.lower() for word in names(product)}
    return bool(words & {"size", "shape", "len", "bs", "n", "batch_size", "numel"})
