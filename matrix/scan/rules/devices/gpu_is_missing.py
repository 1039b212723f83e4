from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from ...code import Code, Hit, argument, constant, has_unpacked, last_name, names, receiver, source
from ...project import imported
from ...training import expects_an_error, in_a_test, is_dead, is_fragment
from .. import needs

BRANCHES = (ast.If, ast.IfExp, ast.Try, ast.BoolOp)
CHOICE = re.compile(r"cuda|gpu|device|available")


@needs("cuda|CUDA")
def gpu_is_missing(code: Code) -> Iterator[Hit]:
    if is_fragment(code):
        for call in code.calls.get("to", ()):
            device = argument(call, 0, "device")
            if isinstance(device, ast.JoinedStr) and ast.unparse(device)[2:].startswith("cuda:"):
                yield Hit(call, f"{source(call)} fails if the machine has no GPU with this number")
        return
    yield from _hidden(code)
    if _falls_back(code):
        yield from islice(_moves(code), 1)
    elif any(_falls_back(file) for file in imported(code, "is_available")):
        yield from _defaults(code)


def _hidden(code: Code) -> Iterator[Hit]:
    """Yields os.environ["CUDA_VISIBLE_DEVICES"] = "7", which hides the first GPU."""
    for statement in code.all(ast.Assign):
        target = statement.targets[0]
        if not isinstance(target, ast.Subscript) or last_name(target.value) != "environ":
            continue
        if constant(target.slice) != "CUDA_VISIBLE_DEVICES":
            continue
        first = re.match(r"\s*(\d+)", str(constant(statement.value)))
        if first is not None and int(first[1]) > 0 and not is_dead(code, statement):
            yield Hit(
                statement,
                f"the first visible GPU is GPU {first[1]}, so this program finds no GPU on a "
                f"machine with fewer than {int(first[1]) + 1} GPUs",
            )


def _falls_back(code: Code) -> bool:
    """True for `device = "cuda" if torch.cuda.is_available() else "cpu"` in this file."""
    for call in code.calls.get("is_available", ()):
        statement = code.statement(call)
        if (
            code.full(call.func) == "torch.cuda.is_available"
            and isinstance(statement, ast.Assign)
            and last_name(statement.targets[0]).lower().endswith("device")
            and any(constant(part) == "cpu" for part in ast.walk(statement))
        ):
            return True
    return False


def _moves(code: Code) -> Iterator[Hit]:
    """Yields the calls that need CUDA in each case, although the file chooses a device."""
    for name in ("cuda", "to"):
        for call in code.calls.get(name, ()):
            if receiver(call) is None or not _is_to_cuda(code, call):
                continue
            if in_a_test(code, call) or is_dead(code, call) or expects_an_error(code, call):
                continue
            if not _is_guarded(code, call):
                yield Hit(
                    call,
                    f"{source(call, 40)} fails without a GPU, although this file falls back to "
                    "the CPU",
                )


def _defaults(code: Code) -> Iterator[Hit]:
    """Yields the calls of functions of this file whose default device is CUDA."""
    for function in code.all(ast.FunctionDef):
        arguments = function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip(positional[::-1], arguments.defaults[::-1], strict=False))
        for position, parameter in enumerate(positional):
            if (
                "device" not in parameter.arg
                or not str(constant(defaults.get(parameter))).startswith("cuda")
                or code.parent[function] is not code.tree
            ):
                continue
            for call in code.calls.get(function.name, ()):
                if (
                    isinstance(call.func, ast.Name)
                    and not has_unpacked(call)
                    and argument(call, position, parameter.arg) is None
                    and not is_dead(code, call)
                ):
                    yield Hit(
                        call,
                        f"{function.name}() uses CUDA by default, although the program falls "
                        "back to the CPU",
                    )


def _is_to_cuda(code: Code, call: ast.Call) -> bool:
    """True for x.cuda() and x.to("cuda")."""
    if code.full(call.func).startswith("torch."):
        return False
    if last_name(call.func) == "cuda":
        return not call.args and not call.keywords
    return str(constant(argument(call, 0, "device"))).startswith("cuda")


def _is_guarded(code: Code, call: ast.Call) -> bool:
    """True if the call is in a branch, or if an earlier return depends on the device."""
    for above in code.ancestors(call):
        test = getattr(above, "test", above)
        if isinstance(above, BRANCHES) and "__name__" not in names(test):
            return True
    function = code.function(call)
    return any(
        CHOICE.search(source(branch.test, 999).lower())
        and isinstance(branch.body[-1], (ast.Return, ast.Raise))
        for branch in code.within(function, ast.If)
    ) or any(
        CHOICE.search(source(statement.test, 999).lower())
        for statement in code.within(function, ast.Assert)
    )
