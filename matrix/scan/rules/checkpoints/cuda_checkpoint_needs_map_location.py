from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import (
    Code,
    Hit,
    argument,
    constant,
    has_unpacked,
    last_name,
    names,
    path,
    place,
    receiver,
    source,
)
from ...project import around
from ...training import expects_an_error, is_dead, is_fragment, is_scheduler
from .. import needs
from .shared import is_test, is_written_before, parts_of

WHOLES = ("model", "net", "module", "optim", "sched")
CHECKPOINTS = ("checkpoint", "ckpt", "snapshot", "state_dict", "resume", "weights", "model")


@needs("torch", "load(")
def cuda_checkpoint_needs_map_location(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("load", ()):
        if (
            code.full(call.func) == "torch.load"
            and argument(call, 1, "map_location") is None
            and not has_unpacked(call)
            and (_is_loaded(code, call) or _is_named(code, call))
            and not _is_of_a_scheduler(code, call)
            and not is_written_before(code, call)
            and not any("cuda" in names(test) for test in code.conditions(call))
            and not expects_an_error(code, call)
            and not is_test(code, call)
            and not is_dead(code, call)
            and (is_fragment(code) or _runs_anywhere(code))
        ):
            yield Hit(call, f"{source(call)} puts each tensor back on the device it was saved from")


def _is_of_a_scheduler(code: Code, call: ast.Call) -> bool:
    """True if a scheduler loads the file: its state has no tensors, so devices do not matter."""
    above = code.parent[call]
    if not isinstance(above, ast.Call) or last_name(above.func) != "load_state_dict":
        return False
    return is_scheduler(code, receiver(above))


def _is_loaded(code: Code, load: ast.Call) -> bool:
    """True if a complete module or optimizer loads the file.

    A part of a model, such as `model.head`, may load a file from another program.
    """
    return any(
        (state := argument(call, 0, "state_dict")) is not None
        and (owner := receiver(call)) is not None
        and (
            path(owner).startswith("self.")
            or "." not in path(owner)
            or any(word in last_name(owner).lower() for word in WHOLES)
        )
        and any(code.value(part) is load for part in parts_of(code, state))
        for call in code.calls.get("load_state_dict", ())
    )


def _is_named(code: Code, load: ast.Call) -> bool:
    """True if the file, the result or the function that returns it is called a checkpoint."""
    statement = code.statement(load)
    direct = getattr(statement, "value", None) is load
    if not direct or not isinstance(statement, (ast.Assign, ast.Return)):
        return False
    if isinstance(statement, ast.Assign):
        words = set(map(last_name, statement.targets))
    else:
        words = {getattr(code.function(load), "name", "")}
    words |= names(load.args[0]) if load.args else set()
    return any(part in word.lower() for word in words for part in CHECKPOINTS)


def _runs_anywhere(code: Code) -> bool:
    """True if the program uses another device on a machine without CUDA."""
    return not _needs_cuda(code) and any(
        _falls_back(file) and not _needs_cuda(file) for file in around(code, "is_available", ".to(")
    )


def _falls_back(code: Code) -> bool:
    """True if the code uses another device on a machine without CUDA, or if the user chooses it."""
    if any(_is_a_choice(code, call) for call in code.calls.get("to", ())):
        return True
    for call in code.calls.get("is_available", ()):
        if code.full(call.func) in ("torch.cuda.is_available", "torch.accelerator.is_available"):
            statement = code.statement(call)
            if isinstance(statement, ast.Assign):  # cuda = torch.cuda.is_available()
                return True
            if any(constant(part) == "cpu" for part in ast.walk(statement)):
                return True
    return False


def _is_a_choice(code: Code, move: ast.Call) -> bool:
    """True for x.to(device), unless the code sets the device to "cuda"."""
    device = argument(move, 0, "device")
    if device is None or last_name(device) != "device":
        return False
    values = code.values(device)
    return not any("cuda" in source(value) for value in values if value is not None)


def _needs_cuda(code: Code) -> bool:
    """True if the code requires CUDA, so it never loads the file on a machine without CUDA."""
    branches = (ast.If, ast.IfExp, ast.Try, ast.BoolOp)
    for call in [*code.calls.get("cuda", ()), *code.calls.get("set_default_tensor_type", ())]:
        tensors = last_name(call.func) == "set_default_tensor_type"
        if tensors and not any(
            "cuda" in str(constant(value)) or "cuda" in path(value) for value in call.args
        ):
            continue
        if call.args and not tensors:
            continue  # model.cuda(device)
        enclosing = [above for above in code.ancestors(call) if isinstance(above, branches)]
        leaves = [
            branch
            for branch in code.within(code.function(call), ast.If)
            if place(branch) < place(call) and isinstance(branch.body[-1], (ast.Return, ast.Raise))
        ]
        main = [
            above
            for above in enclosing
            if isinstance(above, ast.If) and "__name__" in names(above.test)
        ]
        if enclosing == main and not leaves:
            return True
    return False
