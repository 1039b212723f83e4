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
from ...training import expects_an_error, is_dead, is_fragment, is_scheduler
from .. import needs
from .shared import is_test, is_written_before, parts_of

WHOLES = ("model", "net", "module", "optim", "sched")


@needs("load_state_dict", "load(")
def cuda_checkpoint_needs_map_location(code: Code) -> Iterator[Hit]:
    anywhere = _runs_anywhere(code) and not _needs_cuda(code)
    if not is_fragment(code) and not (anywhere and _saves(code)):
        return
    for call in code.calls.get("load", ()):
        if (
            code.full(call.func) == "torch.load"
            and argument(call, 1, "map_location") is None
            and not has_unpacked(call)
            and _is_loaded(code, call)
            and not _is_of_a_scheduler(code, call)
            and not is_written_before(code, call)
            and not any("cuda" in names(test) for test in code.conditions(call))
            and not expects_an_error(code, call)
            and not is_test(code, call)
            and not is_dead(code, call)
        ):
            yield Hit(call, f"{source(call)} puts each tensor back on the device it was saved from")


def _is_of_a_scheduler(code: Code, call: ast.Call) -> bool:
    """Whether it is handed to a scheduler, whose state is numbers and no tensors."""
    above = code.parent[call]
    if not isinstance(above, ast.Call) or last_name(above.func) != "load_state_dict":
        return False
    return is_scheduler(code, receiver(above))


def _is_loaded(code: Code, load: ast.Call) -> bool:
    """Whether a module or an optimizer loads it, as a whole: a part, as in `model.head`, may come
    from a file of another program.
    """
    return any(
        (state := argument(call, 0, "state_dict")) is not None
        and (of := receiver(call)) is not None
        and (
            path(of).startswith("self.")
            or "." not in path(of)
            or any(word in last_name(of).lower() for word in WHOLES)
        )
        and any(code.value(one) is load for one in parts_of(code, state))
        for call in code.calls.get("load_state_dict", ())
    )


def _runs_anywhere(code: Code) -> bool:
    """Whether it asks for CUDA and has another device for where there is none."""
    for call in code.calls.get("is_available", ()):
        if code.full(call.func) in ("torch.cuda.is_available", "torch.accelerator.is_available"):
            statement = code.statement(call)
            if isinstance(statement, ast.Assign):  # cuda = torch.cuda.is_available()
                return True
            if any(constant(one) == "cpu" for one in ast.walk(statement)):
                return True
    return False


def _needs_cuda(code: Code) -> bool:
    """Whether it asks for CUDA but does not run without: then no file of a GPU is read there."""
    branches = (ast.If, ast.IfExp, ast.Try, ast.BoolOp)
    for call in [*code.calls.get("cuda", ()), *code.calls.get("set_default_tensor_type", ())]:
        tensors = last_name(call.func) == "set_default_tensor_type"
        if tensors and not any(
            "cuda" in str(constant(one)) or "cuda" in path(one) for one in call.args
        ):
            continue
        if call.args and not tensors:
            continue  # model.cuda(device)
        around = [one for one in code.ancestors(call) if isinstance(one, branches)]
        leaves = [
            one
            for one in code.within(code.function(call), ast.If)
            if place(one) < place(call) and isinstance(one.body[-1], (ast.Return, ast.Raise))
        ]
        main = [one for one in around if isinstance(one, ast.If) and "__name__" in names(one.test)]
        if around == main and not leaves:
            return True
    return False


def _saves(code: Code) -> bool:
    """Whether the file writes checkpoints itself, on the device that it runs on."""
    return any(code.full(call.func) == "torch.save" for call in code.calls.get("save", ()))
