from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, names, path, place, receiver, source
from ...training import is_fragment, is_loader
from .. import needs


@needs("+=|.append(", "len(|mean(|average(")
def mean_of_batch_means(code: Code) -> Iterator[Hit]:
    yield from _means_of_lists(code)
    divisions: list[tuple[ast.BinOp | ast.AugAssign, ast.expr, ast.expr]] = [
        (division, division.left, division.right) for division in code.all(ast.BinOp)
    ]
    divisions += [
        (division, division.target, division.value) for division in code.all(ast.AugAssign)
    ]
    for mean, total, count in divisions:
        if not isinstance(mean.op, ast.Div) or not path(total) or not _is_length(code, count):
            continue
        if any(
            path(addition.target) == path(total)
            and place(addition) < place(mean)
            and _adds_a_mean(code, addition, count)
            for addition in code.within(code.function(mean), ast.AugAssign)
        ):
            yield Hit(mean, f"{source(mean)} gives more weight to the rows of a shorter last batch")


def _means_of_lists(code: Code) -> Iterator[Hit]:
    """Yields np.mean(losses) and sum(losses) / len(losses), of the losses of a loader's batches."""
    kept: list[tuple[ast.AST, str, ast.expr]] = [
        (put, path(receiver(put)), put.args[0])
        for put in code.calls.get("append", ())
        if len(put.args) == 1
    ]
    kept += [
        (addition, path(addition.target), addition.value.elts[0])
        for addition in code.all(ast.AugAssign)  # losses += [loss.item()]
        if isinstance(addition.value, ast.List) and len(addition.value.elts) == 1
    ]
    lists = {
        (name, code.function(node))
        for node, name, value in kept
        if isinstance(value, ast.Call)
        and last_name(value.func) == "item"
        and _is_a_loss(code, value)
        and (loops := code.loops(node))
        and isinstance(loops[0], ast.For)
        and is_loader(code, loops[0].iter)
        and not _drops_the_last(code, loops[0].iter)
    }
    means = [call for name in ("mean", "average") for call in code.calls.get(name, ())]
    taken: list[tuple[ast.expr, ast.expr]] = [(call, call.args[0]) for call in means if call.args]
    taken += [
        (division, division.left.args[0])
        for division in code.all(ast.BinOp)
        if isinstance(division.op, ast.Div)
        and isinstance(division.left, ast.Call)
        and division.left.args
        and path(division.left.func) == "sum"
        and source(division.right) == f"len({source(division.left.args[0])})"
    ]
    for node, losses in taken:
        if (path(losses), code.function(node)) in lists:
            yield Hit(node, f"{source(node)} gives more weight to the rows of a shorter last batch")


def _is_length(code: Code, node: ast.expr) -> bool:
    """True for len(loader)."""
    if not isinstance(node, ast.Call) or path(node.func) != "len" or len(node.args) != 1:
        return False
    loader = node.args[0]
    return is_loader(code, loader) and path(loader) != "" and not _drops_the_last(code, loader)


def _drops_the_last(code: Code, loader: ast.expr) -> bool:
    """True if the loader, or the loader in enumerate(loader), drops a shorter last batch."""
    made = (code.value(part) for part in ast.walk(loader) if path(part))
    return any(
        isinstance(call, ast.Call) and constant(argument(call, 8, "drop_last")) is True
        for call in made
    )


def _adds_a_mean(code: Code, addition: ast.AugAssign, count: ast.expr) -> bool:
    """True for an unweighted `total += loss.item()` in a loop over the loader."""
    value = addition.value
    if not isinstance(addition.op, ast.Add) or not isinstance(value, ast.Call):
        return False
    if last_name(value.func) != "item" or not _is_a_loss(code, value):
        return False
    assert isinstance(count, ast.Call)
    loader = path(count.args[0])
    loops = code.loops(addition)
    return bool(loops) and any(
        path(part) == loader for part in ast.walk(getattr(loops[0], "iter", loops[0]))
    )


def _is_a_loss(code: Code, item: ast.Call) -> bool:
    loss = receiver(item)
    if loss is None:
        return False
    if isinstance(loss, ast.Call):
        return is_fragment(code) or any(
            "loss" in n.lower() or "crit" in n for n in names(loss.func)
        )
    value = code.value(loss)
    summed = isinstance(value, ast.Call) and last_name(value.func) == "sum"
    return "loss" in last_name(loss).lower() and not summed
