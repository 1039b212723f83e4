from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, path
from ...training import backwards, epoch_loop, functions_called, in_a_test, is_fragment, passed
from .. import needs

VALIDATES = ("val", "dev", "eval")
TRAINS = ("train", "fit", "learn", "run")


@needs("DataLoader")
def validation_changes_the_training_order(code: Code) -> Iterator[Hit]:
    if "fork_rng" in code.text:
        return
    for call in code.calls.get("DataLoader", ()):
        shuffles = constant(passed(code, call, 2, "shuffle")) is True or is_fragment(code)
        if not shuffles or passed(code, call, -1, "generator") is not None or in_a_test(code, call):
            continue
        if (name := _validation_loader(code, call)) is not None:
            yield Hit(
                call,
                f"each pass over {name} draws from the generator that also shuffles the training "
                "rows",
            )


def _validation_loader(code: Code, call: ast.Call) -> str | None:
    """The name of the loader if a training run also passes over it to validate."""
    above = code.parent[call]
    if isinstance(above, ast.Dict):  # {"train": DataLoader(...), "val": DataLoader(...)}
        key = constant(above.keys[above.values.index(call)])
        is_pair = any("train" in str(constant(other)) for other in above.keys)
        return repr(key) if is_pair and str(key).startswith(VALIDATES) else None
    if isinstance(above, ast.Return):
        hook = getattr(code.function(call), "name", "")  # of Lightning
        return f"the result of {hook}()" if hook == "val_dataloader" else None
    if not isinstance(above, ast.Assign) or above.value is not call:
        return None
    target = above.targets[0]
    words = last_name(target).lower().split("_")
    if any(word.startswith(VALIDATES) for word in (words[0], words[-1])) and "train" not in words:
        return path(target) if is_fragment(code) or _is_read(code, target) else None
    if "test" in words[0] + words[-1]:
        validates = _is_read_in_epochs(code, target) or _is_passed_to_training(code, target)
        return path(target) if validates else None
    return None


def _is_passed_to_training(code: Code, target: ast.expr) -> bool:
    """True for net.fit(train_loader, test_loader) and Trainer(net, train_loader, test_loader)."""
    name = path(target)
    return any(
        any(part in last_name(call.func).lower() for part in TRAINS)
        and any(path(value) == name for value in values)
        and any("train" in last_name(value).lower() for value in values)
        for call in code.all(ast.Call)
        if (values := [*call.args, *(keyword.value for keyword in call.keywords)])
        and code.scope(call) in (code.scope(target), code.tree)
    )


def _is_read(code: Code, loader: ast.expr) -> bool:
    """False for a plain name that the file only assigns."""
    return not isinstance(loader, ast.Name) or any(
        name.id == loader.id and isinstance(name.ctx, ast.Load) for name in code.all(ast.Name)
    )


def _is_read_in_epochs(code: Code, target: ast.expr) -> bool:
    """True if a loop over epochs both trains and passes over the loader."""
    name = path(target)
    uses: list[ast.Name | ast.Attribute] = [*code.all(ast.Name), *code.all(ast.Attribute)]
    return any(
        isinstance(use.ctx, ast.Load)
        and (loop := epoch_loop(code, use)) is not None
        and any(backwards(code, body) for body in [loop, *functions_called(code, loop)])
        for use in uses
        if path(use) == name and code.scope(use) in (code.scope(target), code.tree)
    )
