from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, path, place, receiver, source
from ...project import around
from ...training import (
    OPTIMIZERS,
    certain,
    is_fragment,
    is_optimizer,
    is_scheduler,
    resumes,
)
from .. import needs
from .shared import is_written_before, keys_of, restores, torch_saves

SETTINGS = re.compile(r"conf|cfg|args|opts?$|params|setting|option")


@needs("optim", "load|save(")
def resume_without_optimizer_state(code: Code) -> Iterator[Hit]:
    yield from _replaced_after_loading(code)
    files = [code] if _saves_its_epochs(code) else around(code, "optim")
    if any(_keeps_the_state(file) for file in files):
        return
    yield from _saved_with_the_scaler(code)
    for call in [*_loads(code), *_loads_of_its_own_file(code)][:1]:
        yield Hit(
            call,
            f"{source(call, 40)} restores the weights, but nothing saves or loads the state of "
            "the optimizer",
        )


def _loads(code: Code) -> Iterator[ast.Call]:
    """Yields the loads of the weights of a run that continues."""
    if not resumes(code) or not (
        (is_fragment(code) and not code.all(ast.ClassDef)) or _trains(code)
    ):
        return
    for call in code.calls.get("load_state_dict", ()):
        model = receiver(call)
        if model is None or is_scheduler(code, model) or not last_name(model):
            continue
        if not is_written_before(code, call):  # as when restoring the best epoch of this run
            yield call
    for restore in restores(code):
        if not is_written_before(code, restore.call) and restore.found.code is not code:
            yield restore.call
    for call in code.calls.get("load", ()):
        above = code.parent[call]
        if (
            code.full(call.func) == "torch.load"
            and isinstance(above, ast.Assign)
            and any(word in last_name(above.targets[0]) for word in ("model", "net"))
            and not is_written_before(code, call)
        ):
            yield call


def _loads_of_its_own_file(code: Code) -> Iterator[ast.Call]:
    """Yields `net.restore(path)` in `if os.path.exists(path):`, if the file trains and then saves
    to this path.
    """
    saved = {
        ast.dump(value)
        for name, calls in code.calls.items()
        if "save" in name
        for call in calls
        for value in call.args
        if path(value)
    }
    if not saved or not _trains(code) or not code.calls.get("backward"):
        return
    for name in ("exists", "isfile", "is_file"):
        for call in code.calls.get(name, ()):
            test = code.parent[call]
            file = call.args[0] if call.args else receiver(call)
            if not isinstance(test, ast.If) or file is None or ast.dump(file) not in saved:
                continue
            for statement in test.body:
                for load in code.calls_in(statement):
                    is_of_rows = code.full(load.func) == "torch.load"  # features = torch.load(path)
                    if is_of_rows or "load" not in last_name(load.func):
                        continue
                    if ast.dump(file) in map(ast.dump, load.args):
                        yield load


def _saved_with_the_scaler(code: Code) -> Iterator[Hit]:
    """Yields checkpoints with the state of a scaler, which is needed only to continue the run."""
    for call in torch_saves(code):
        saved = code.value(argument(call, 0, "obj"))
        if not isinstance(saved, ast.Dict):
            continue
        keys = [str(constant(key)).lower() for key in saved.keys]
        if any("scaler" in key for key in keys) and _trains(code):
            yield Hit(
                call,
                f"{source(call, 40)} saves the state of the scaler, but not that of the optimizer",
            )


def _replaced_after_loading(code: Code) -> Iterator[Hit]:
    """Yields optimizer.load_state_dict(), if the function then creates the optimizer again."""
    for call in code.calls.get("load_state_dict", ()):
        optimizer, function = receiver(call), code.function(call)
        if optimizer is None or not path(optimizer) or not is_optimizer(code, optimizer):
            continue
        for made in code.within(function, ast.Assign):
            if (
                path(made.targets[0]) == path(optimizer)
                and isinstance(made.value, ast.Call)
                and code.torch(made.value.func) in OPTIMIZERS
                and place(made) > place(call)
                and not code.excludes(call, made)
                and set(code.loops(made)) <= set(code.loops(call))
                and certain(code, made, call)
            ):
                yield Hit(
                    call,
                    f"{path(optimizer)} is created again on line {place(made)[0]}, so the state "
                    "loaded here is lost",
                )


def _saves_its_epochs(code: Code) -> bool:
    """True if the file itself saves a dict with an epoch, so it loads its own checkpoint."""
    saved = [code.value(argument(call, 0, "obj")) for call in torch_saves(code)]
    return any(
        constant(key) == "epoch"
        for state in saved
        if isinstance(state, ast.Dict)
        for key in state.keys
    )


def _keeps_the_state(code: Code) -> bool:
    """True if the file saves or loads the state of an optimizer."""
    stated = [
        receiver(call)
        for name in ("state_dict", "load_state_dict")
        for call in code.calls.get(name, ())
    ]
    return any(is_optimizer(code, each) for each in stated) or _has_a_key(code)


def _has_a_key(code: Code) -> bool:
    """True for a dict key such as "optimizer", whose value may be a state.

    Keys of a configuration, such as config["optimizer"], are excluded.
    """
    return any(
        "optim" in str(constant(key)).lower() and not _is_of_a_setting(code, key)
        for key in keys_of(code)
        if key is not None
    )


def _is_of_a_setting(code: Code, key: ast.expr) -> bool:
    """True for a key of config["training"], and of a dict whose value is a literal or a table."""
    above = code.parent[key]
    if isinstance(above, ast.Dict):
        value = above.values[above.keys.index(key)]
        return isinstance(value, (ast.Constant, ast.Dict, ast.List))
    while isinstance(above, ast.Subscript):
        above = above.value
    return bool(SETTINGS.search(last_name(above).lower()))


def _trains(code: Code) -> bool:
    """True if this file also steps an optimizer that has a state."""
    text = code.text
    return "Adam" in text or "momentum" in text or "RMSprop" in text
