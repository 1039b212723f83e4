from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, names, path, receiver, source
from ...training import is_fragment, is_loader, is_network, without_grad
from .. import needs

MODEL = ("model", "net", "network", "classifier", "generator", "encoder", "unet", "transformer")
VALIDATES = ("val", "test", "eval", "dev")


@needs("no_grad|inference_mode|model(x)|self.train()")
def eval_is_forgotten(code: Code) -> Iterator[Hit]:
    yield from _undone_in_forward(code)
    if is_fragment(code):
        yield from _same_call_twice(code)
        return
    if _may_set_eval_mode(code) or not code.calls.get("backward"):
        return
    for loop in code.all(ast.For):
        words = " ".join(names(loop.iter)).lower()
        if not is_loader(code, loop.iter) or not any(word in words for word in VALIDATES):
            continue
        if "train" in words:
            continue
        for call in code.calls_in(loop):
            if _is_a_model(call) and without_grad(code, call):
                yield Hit(
                    call,
                    f"{path(call.func)} is in train mode here: nothing in this file calls eval()",
                )
                break


def _undone_in_forward(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("train", ()):
        function = code.function(call)
        if (
            path(receiver(call)) == "self"
            and not call.args
            and getattr(function, "name", "") == "forward"
            and is_network(code, code.owner(call))
        ):
            yield Hit(call, "each call to forward() sets train mode again, even after eval()")


def _is_a_model(call: ast.Call) -> bool:
    return last_name(call.func).lower() in MODEL and bool(path(call.func)) and bool(call.args)


def _may_set_eval_mode(code: Code) -> bool:
    """True if any code in the file calls eval() or train(False), or leaves the loop to others."""
    if any(isinstance(call.func, ast.Attribute) for call in code.calls.get("eval", ())):
        return True
    calls = [call for call in code.calls.get("train", ()) if isinstance(call.func, ast.Attribute)]
    if any(call.args and constant(call.args[0]) is not True for call in calls):
        return True
    return bool({"set_mode", "eval_mode", "LightningModule", "Accelerator"} & set(code.calls))


def _same_call_twice(code: Code) -> Iterator[Hit]:
    for pair in code.all(ast.Tuple):
        calls = [part for part in pair.elts if isinstance(part, ast.Call) and _is_a_model(part)]
        same = len(calls) == 2 and source(calls[0]) == source(calls[1])
        if same and not _may_set_eval_mode(code):
            yield Hit(calls[1], f"in train mode, {source(calls[1])} may differ from call to call")
