from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import (
    FUNCTIONS,
    Code,
    Hit,
    constant,
    last_name,
    names,
    path,
    place,
    receiver,
    source,
)
from ...project import definition
from ...training import functions_called, is_fragment, is_loader, is_network, without_grad
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


@needs("no_grad|inference_mode|model(x)|self.train()|backward(")
def eval_is_forgotten(code: Code) -> Iterator[Hit]:
    yield from _undone_in_forward(code)
    if is_fragment(code):
        yield from _same_call_twice(code)
        return
    if not code.calls.get("backward") or _has_no_modes(code):
        return
    may_set = _may_set_eval_mode(code)
    for loop in code.all(ast.For):
        call = _validation_call(code, loop)
        if call is None:
            continue
        if not may_set:
            yield Hit(
                call,
                f"{path(call.func)} is in train mode here, because nothing in this file calls "
                "eval()",
            )
        elif _is_the_only_function_without(code, call):
            function = code.function(call)
            yield Hit(
                call,
                f"{path(call.func)} may be in train mode here, because "
                f"{getattr(function, 'name', '')}() does not call eval()",
            )
    if may_set:
        yield from _after_train(code)


def _validation_call(code: Code, loop: ast.For) -> ast.Call | None:
    """The model's call in a loop over a validation loader that computes no gradient."""
    words = " ".join(names(loop.iter)).lower()
    if not any(word in words for word in VALIDATES) or "train" in words:
        return None
    if not is_loader(code, loop.iter):
        return None
    function = code.function(loop)
    trains = isinstance(function, ast.Module) or bool(code.calls_in(function, "backward", "step"))
    for call in code.calls_in(loop):
        is_free = without_grad(code, call) or (not trains and not _learns(code, loop))
        if is_free and _is_a_model(call) and not _asks_for_losses(code, call):
            return call
    return None


def _learns(code: Code, loop: ast.For) -> bool:
    """True if a function that the loop calls may compute gradients or step an optimizer."""
    return any(
        any(word in last_name(call.func).lower() for word in ("train", "optim", "step", "grad"))
        for call in code.calls_in(loop)
    )


def _is_the_only_function_without(code: Code, call: ast.Call) -> bool:
    """True if another function that validates calls eval(), but this function does not.

    The callers of this function in this file do not call eval() either.
    """
    function = code.function(call)
    if not isinstance(function, ast.FunctionDef):
        return False
    setters = {code.function(other) for other in _mode_calls(code)}
    if any(not isinstance(setter, ast.FunctionDef) for setter in setters):
        return False
    own = {function, *_callers(code, function), *functions_called(code, function)}
    own |= {outer for inner in list(own) for outer in _callers(code, inner)}
    if own & setters or any(isinstance(above, FUNCTIONS) for above in code.ancestors(function)):
        return False
    model = last_name(call.func)
    return any(
        isinstance(other, ast.For)
        and is_loader(code, other.iter)
        and not code.calls_in(other, "backward")
        for setter in setters
        for other in code.within(setter, ast.For)
    ) and any(last_name(receiver(other) or other) == model for other in _mode_calls(code))


def _callers(code: Code, function: ast.AST) -> set[ast.AST]:
    return {code.function(call) for call in code.calls.get(getattr(function, "name", ""), ())}


def _mode_calls(code: Code) -> list[ast.Call]:
    return [
        call
        for call in [*code.calls.get("eval", ()), *code.calls.get("train", ())]
        if isinstance(call.func, ast.Attribute)
        and (call.func.attr == "eval" or (call.args and constant(call.args[0]) is not True))
    ]


def _after_train(code: Code) -> Iterator[Hit]:
    """Yields validation in a loop that calls train() before it, and never eval()."""
    for train in code.calls.get("train", ()):
        loop = next(iter(code.loops(train)), None)
        if loop is None or train.args or not path(receiver(train)):
            continue
        inside = [loop, *functions_called(code, loop)]
        inside += [inner for function in inside[1:] for inner in functions_called(code, function)]
        if any(code.calls_in(part, "eval", "set_mode", "eval_mode") for part in inside):
            continue
        if any(call.args or call.keywords for call in code.calls_in(loop, "train")):
            continue
        for call in code.calls_in(loop):
            model = _validated(code, call, last_name(receiver(train) or train))
            if model is not None and place(call) > place(train):
                yield Hit(
                    call,
                    f"{path(model.func)} is in train mode here, because the loop calls "
                    f"{source(train, 40)} and never eval()",
                )
                break


def _validated(code: Code, call: ast.Call, model: str) -> ast.Call | None:
    """The call of the model in a function such as measure(val_x), which needs no gradients."""
    values = " ".join(word for value in call.args for word in names(value)).lower()
    words = f"{values} {last_name(call.func)}".lower()
    if "train" in words or not any(word in words for word in ("val", "test")):
        return None
    functions = [
        function for function in code.all(ast.FunctionDef) if function.name == path(call.func)
    ]
    return next(
        (
            inner
            for function in functions[:1]
            for inner in code.calls_in(function)
            if last_name(inner.func) == model and inner.args and without_grad(code, inner)
        ),
        None,
    )


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
    name = last_name(call.func).lower()
    return (
        (name in MODEL or name.endswith(("_model", "_net", "_network")))
        and bool(path(call.func))
        and bool(call.args)
    )


def _asks_for_losses(code: Code, call: ast.Call) -> bool:
    """True for loss_dict = model(images, targets): a detector returns losses only in train mode."""
    statement = code.statement(call)
    if isinstance(statement, ast.AnnAssign):
        return last_name(statement.target) == "loss_dict"
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
            yield Hit(
                calls[1],
                f"in train mode, {source(calls[1])} may return a different result each time",
            )
