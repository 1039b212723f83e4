from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, names, path, place, receiver
from ...training import OPTIMIZERS, backwards, is_fragment, optimizer_steps, without_grad
from .. import needs

MODES = ("train", "eval", "zero_grad", "parameters", "state_dict", "load_state_dict", "to", "cuda")


@needs(".eval()")
def predict_leaves_eval_mode(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("eval", ()):
        model = path(receiver(call))
        if not model or call.args or call.keywords:
            continue
        if is_fragment(code):
            if not code.calls.get("train"):
                yield Hit(call, f"nothing calls {model}.train() after {model}.eval()")
            continue
        loop = next((one for one in code.loops(call) if backwards(code, one)), None)
        if loop is None or not optimizer_steps(code, loop):
            continue
        if (
            not _goes_back(code, loop, model)
            and _is_trained(code, loop, model)
            and not _leaves(code, call, loop)
            and (_is_set_to_train(code, model, call) or _is_optimized(code, model))
            and (
                place(call) > place(backwards(code, loop)[0]) or _is_set_to_train(code, model, call)
            )
        ):
            yield Hit(
                call,
                f"nothing in this loop calls {model}.train() again, so training continues in eval "
                f"mode after the first {model}.eval()",
            )


def _goes_back(code: Code, loop: ast.AST, model: str) -> bool:
    """Whether something in the loop may set train mode."""
    wanted = set(model.split(".")) - {"self"}
    defined = {
        one.name: one
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef)
        for one in code.all(kind)
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    for call in code.calls_in(loop):
        name, of = last_name(call.func), receiver(call)
        if name == "train" and (
            path(of) in ("", model) or names(call.func) & wanted or model.startswith(f"{path(of)}.")
        ):
            return True
        handed = any(path(one) == model for one in call.args)
        if handed and {"train", "mode"} & set(name.split("_")):
            return True
        if name in defined and any(
            last_name(one.func) == "train"
            for one in ast.walk(defined[name])
            if isinstance(one, ast.Call)
        ):
            return True
    targets = {
        one.id
        for inner in code.within(loop, ast.For)
        for one in ast.walk(inner.target)
        if isinstance(one, ast.Name)
    }
    return any(path(receiver(call)) in targets for call in code.calls_in(loop, "train"))


def _is_trained(code: Code, loop: ast.AST, model: str) -> bool:
    """Whether the loop calls the model with gradients on, or hands it to what may."""
    owned = model.startswith("self.")
    for call in code.calls_in(loop):
        func = f"{path(call.func)}."
        used = func.startswith(f"{model}.") and last_name(call.func) not in MODES
        handed = any(path(one) == model for one in [*call.args, *(k.value for k in call.keywords)])
        if (used or handed or (owned and func.startswith("self."))) and not without_grad(
            code, call
        ):
            return True
    return False


def _leaves(code: Code, node: ast.AST, loop: ast.AST) -> bool:
    """Whether the loop is left after it."""
    statement: ast.AST = code.statement(node)
    while statement is not loop:
        if isinstance(statement, ast.stmt) and any(
            isinstance(one, (ast.Return, ast.Break, ast.Raise))
            for one in code.block(statement)
            if place(one) > place(statement)
        ):
            return True
        statement = code.parent[statement]
    return False


def _is_set_to_train(code: Code, model: str, call: ast.Call) -> bool:
    """Whether the mode of the model matters to the function, or to the class."""
    return any(
        path(one.func) == f"{model}.train"
        and (model.startswith("self.") or code.function(one) is code.function(call))
        for one in code.calls.get("train", ())
    )


def _is_optimized(code: Code, model: str) -> bool:
    return any(
        path(part) == f"{model}.parameters"
        for name in OPTIMIZERS
        for call in code.calls.get(name, ())
        for given in [*call.args, *(keyword.value for keyword in call.keywords)]
        for part in ast.walk(given)
    )
