from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, names, path, receiver, source
from ...project import definition
from ...training import is_fragment, is_loader, is_network, without_grad
from .. import needs

MODEL = ("model", "net", "network", "classifier", "generator", "encoder", "unet", "transformer")
VALIDATES = ("val", "test", "eval", "dev")
MOST = 20  # files, because a repository may have thousands
# words of layers that depend on the mode, and of libraries whose networks contain such layers
MODES = re.compile(
    r"ropout|atch_?norm|Transformer(?!s)|self\.training|timm|hub\.load|torchvision\.models"
    r"|import models|(?:res|dense|mobile|efficient|inception)_?net|vgg",
    re.IGNORECASE,
)


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
            if not _is_a_model(call) or not without_grad(code, call):
                continue
            if not _asks_for_losses(code, call) and not _has_no_modes(code):
                yield Hit(
                    call,
                    f"{path(call.func)} is in train mode here, because nothing in this file calls "
                    "eval()",
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


def _asks_for_losses(code: Code, call: ast.Call) -> bool:
    """True for loss_dict = model(images, targets): a detector returns losses only in train mode."""
    statement = code.statement(call)
    return isinstance(statement, ast.Assign) and last_name(statement.targets[0]) == "loss_dict"


def _has_no_modes(code: Code) -> bool:
    """True if the networks of the file are known, and none of their layers depends on the mode.

    from_pretrained() of transformers sets eval mode, which lasts until a call of train().
    """
    files = [code]
    for file in files:
        for call in file.all(ast.Call):
            called = definition(file, call.func)
            if called is not None and called.code not in files and len(files) < MOST:
                files.append(called.code)
    known = any(
        is_network(file, owner) and _creates_layers(file, owner)
        for file in files
        for owner in file.all(ast.ClassDef)
    )
    texts = [file.text for file in files]
    if ".train()" in code.text and any("from_pretrained" in text for text in texts):
        return False
    return known and not any(MODES.search(text) for text in texts)


def _creates_layers(code: Code, owner: ast.ClassDef) -> bool:
    calls = (part for part in ast.walk(owner) if isinstance(part, ast.Call))
    return any(code.full(call.func).startswith("torch.nn.") for call in calls)


def _may_set_eval_mode(code: Code) -> bool:
    """True if code in the file calls eval() or train(False), or leaves the loop to a library."""
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
