"""Modes of modules, and recurrent layers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import (
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
from ..training import OPTIMIZERS, backwards, given, is_fragment, optimizer_steps, without_grad
from . import needs

MODES = ("train", "eval", "zero_grad", "parameters", "state_dict", "load_state_dict", "to", "cuda")


@needs(".eval()")
def predict_leaves_eval_mode(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("eval", ()):
        model = path(receiver(call))
        if not model or call.args or call.keywords:
            continue
        if is_fragment(code):
            if not code.calls.get("train"):
                yield Hit(call, f"nobody calls {model}.train() after {model}.eval()")
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
                f"nothing in this loop calls {model}.train() again: the steps after the first "
                f"{model}.eval() are taken in eval mode",
            )


@needs("cudnn", "flags(")
def cudnn_flags_drop_settings(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("flags", ()):
        if (
            code.full(call.func) == "torch.backends.cudnn.flags"
            and (call.args or call.keywords)
            and not given(call, 0, "enabled")
            and not has_unpacked(call)
        ):
            yield Hit(call, f"{source(call)} is not given `enabled`, so it switches cuDNN off")


@needs("RNN(")
def positional_nonlinearity_becomes_bias(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("RNN", ()):
        if code.torch(call.func) and constant(code.value(argument(call, 3))) in ("relu", "tanh"):
            yield Hit(call, f"{source(call)} takes its fourth argument for `bias`")


@needs(".eval()", ".train()")
def train_mode_restore_unfreezes(code: Code) -> Iterator[Hit]:
    if any(
        isinstance(one, ast.FunctionDef) and one.name == "train" and code.owner(one) is not None
        for one in code.nodes.get(ast.FunctionDef, ())
    ):
        return  # it may keep the frozen part in eval mode
    for call in code.calls.get("train", ()):
        model, function = path(receiver(call)), code.function(call)
        if not model or call.args or call.keywords:
            continue
        frozen = [
            one
            for one in code.calls_in(function, "eval")
            if (of := receiver(one)) is not None
            and (path(of).startswith(f"{model}.") or _is_item(of, model))
        ]
        before = [one for one in frozen if place(one) < place(call)]
        after = [one for one in frozen if place(one) > place(call)]
        if not before or after:
            continue
        again = set(code.loops(call)) - set(code.loops(before[-1]))
        part = source(before[-1].func, 40).removesuffix(".eval")
        thawed = [
            one
            for one in code.calls_in(function, "train")
            if source(one.func, 40) == f"{part}.train"
        ]
        if (again or is_fragment(code)) and not thawed:
            yield Hit(call, f"{model}.train() also sets {part}, which is in eval mode on purpose")


# --- what the rules above share -------------------------------------------------------------------


def _goes_back(code: Code, loop: ast.AST, model: str) -> bool:
    """Whether something in the loop may set train mode."""
    wanted = set(model.split(".")) - {"self"}
    defined = {
        one.name: one
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef)
        for one in code.nodes.get(kind, ())
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


def _is_item(part: ast.expr, model: str) -> bool:
    """model[0], model.layers[0]"""
    return isinstance(part, ast.Subscript) and f"{path(part.value)}.".startswith(f"{model}.")
