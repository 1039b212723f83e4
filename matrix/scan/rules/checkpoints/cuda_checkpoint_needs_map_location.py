from __future__ import annotations

import ast
import re
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
from ...project import program
from ...training import expects_an_error, is_dead, is_fragment, is_scheduler
from .. import needs
from .shared import is_test, is_written_before, parts_of

WHOLES = ("model", "net", "module", "optim", "sched")
CHECKPOINTS = (
    "checkpoint", "ckpt", "snapshot", "state_dict", "param_dict", "resume", "weights", "model",
    "encoder", "decoder", "generator", "discriminator",
)  # fmt: skip
BRANCHES = (ast.If, ast.IfExp, ast.Try, ast.BoolOp)
MOVES = ("cuda", "to", "set_default_tensor_type")
NETWORK = re.compile(r"(^|_)net(work)?\d*(_|$)")


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
            and _branch(code, call) != "cuda"
            and not expects_an_error(code, call)
            and not is_test(code, call)
            and not is_dead(code, call)
            and (is_fragment(code) or _runs_anywhere(code, call))
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
    return any(
        NETWORK.search(word.lower()) or any(part in word.lower() for part in CHECKPOINTS)
        for word in words
    )


def _runs_anywhere(code: Code, load: ast.Call) -> bool:
    """True if the program uses another device on a machine without CUDA."""
    if _branch(code, load) == "other":
        return True
    return not _needs_cuda(code, load) and any(
        _falls_back(file) and not _moves_a_model(file)
        for file in program(code, "is_available", ".to(", "cuda")
    )


def _moves_a_model(code: Code) -> bool:
    """True for model.cuda() outside of all branches."""
    return any(
        not call.args
        and any(word in last_name(receiver(call) or call).lower() for word in ("model", "net"))
        and not any(isinstance(above, BRANCHES) for above in code.ancestors(call))
        for call in code.calls.get("cuda", ())
    )


def _mentions_cuda(test: ast.expr) -> bool:
    text = ast.unparse(test).lower()
    return any(word in text for word in ("cuda", "gpu", "available"))


def _branch(code: Code, node: ast.AST) -> str:
    """ "cuda" for a node in the body of `if use_cuda:`, "other" in its `else`, or ""."""
    inner: ast.AST = node
    for above in code.ancestors(node):
        if isinstance(above, ast.If) and inner is not above.test and _mentions_cuda(above.test):
            negated = isinstance(above.test, ast.UnaryOp)
            return "cuda" if any(inner is part for part in above.body) is not negated else "other"
        inner = above
    return ""


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
    return any(
        any(_mentions_cuda(test) for test in code.conditions(call))  # if use_cuda: model.cuda()
        for call in code.calls.get("cuda", ())
    ) or any(
        constant(argument(call, 0, "device")) == "cpu" and code.conditions(call)
        for call in code.calls.get("device", ())
    )


def _is_a_choice(code: Code, move: ast.Call) -> bool:
    """True for x.to(device), unless the code sets the device to "cuda"."""
    device = argument(move, 0, "device")
    if device is None or last_name(device) != "device":
        return False
    values = code.values(device)
    if any("cuda" in source(value) for value in values if value is not None):
        return False
    return not _is_always_cuda(code, device)


def _is_always_cuda(code: Code, device: ast.expr) -> bool:
    """True for the parameter of a function if all of its callers pass "cuda"."""
    for value in code.values(device):  # self.device = device
        if isinstance(value, ast.Name):
            device = value
    function = code.function(device)
    if not isinstance(function, ast.FunctionDef) or path(device) == "":
        return False
    parameters = [parameter.arg for parameter in function.args.args]
    if path(device) not in parameters:
        return False
    position = parameters.index(path(device))
    name, owner = function.name, code.parent[function]
    if isinstance(owner, ast.ClassDef):
        position, name = position - 1, owner.name if name == "__init__" else name
    passed = [
        file.value(argument(call, position, path(device)))
        for file in program(code, f"{name}(")
        for call in file.calls.get(name, ())
    ]
    return bool(passed) and all(value is not None and _is_the_word_cuda(value) for value in passed)


def _is_the_word_cuda(value: ast.AST) -> bool:
    """True for "cuda:0" and torch.device("cuda")."""
    if isinstance(value, ast.Call) and last_name(value.func) == "device" and value.args:
        value = value.args[0]
    return str(constant(value)).startswith("cuda")


def _needs_cuda(code: Code, load: ast.Call) -> bool:
    """True if the code around the load requires CUDA, so it never runs without CUDA.

    This is the function or the class that loads, and the code outside of all functions.
    """
    own = (code.function(load), code.tree)
    moves = [call for name in MOVES for call in code.calls.get(name, ())]
    for call in moves:
        is_here = code.function(call) in own or (
            code.owner(load) is not None and code.owner(call) is code.owner(load)
        )
        if not is_here or not _is_to_cuda(code, call):
            continue
        around = [above for above in code.ancestors(call) if isinstance(above, BRANCHES)]
        leaves = [
            branch
            for branch in code.within(code.function(call), ast.If)
            if place(branch) < place(call) and isinstance(branch.body[-1], (ast.Return, ast.Raise))
        ]
        if not leaves and not any(_is_choice_of_a_device(above) for above in around):
            return True
    return False


def _is_to_cuda(code: Code, call: ast.Call) -> bool:
    """True for x.cuda() and x.to("cuda"), and for a default tensor type of CUDA."""
    if last_name(call.func) == "cuda":
        return not call.args  # unlike model.cuda(device)
    value = call.args[0] if call.args else None
    if last_name(call.func) == "to":
        return str(constant(code.value(value))).startswith("cuda")
    return "cuda" in str(constant(value)) or "cuda" in path(value)


def _is_choice_of_a_device(branch: ast.AST) -> bool:
    """True for `if use_cuda:` and similar branches, unlike `if name == "resnet":`."""
    if isinstance(branch, (ast.If, ast.IfExp)):
        return _mentions_cuda(branch.test) or "device" in ast.unparse(branch.test)
    return isinstance(branch, (ast.Try, ast.BoolOp))
