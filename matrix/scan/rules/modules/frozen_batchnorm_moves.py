from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, names, path, receiver, source
from ...project import around, imports, program
from ...training import class_of, creating_call, is_dead, is_fragment, is_network
from .. import needs
from .shared import BATCH_NORMS

# torchvision's models with BatchNorm
NORMALIZED = (
    "resnet", "resnext", "wide_resnet", "densenet", "mobilenet", "efficientnet", "inception",
    "googlenet", "shufflenet", "regnet", "mnasnet",
)  # fmt: skip
MODELS = ("model", "net", "network", "module", "student", "classifier")


@needs("requires_grad|.train()")
def frozen_batchnorm_moves(code: Code) -> Iterator[Hit]:
    if is_fragment(code):
        yield from _frozen_in_a_fragment(code)
        return
    if _keeps_statistics(code):
        return
    for node, model in _frozen(code):
        if (
            _has_batch_norm(code, model)
            and not is_dead(code, node)
            and any(_trains(file) for file in around(code, ".train(", ".backward("))
        ):
            yield Hit(
                node,
                f"train() also sets the BatchNorm layers of {source(model, 40)} to train mode, so "
                "their statistics change although the weights are frozen",
            )
    yield from _trained_in_this_file(code)


def _trained_in_this_file(code: Code) -> Iterator[Hit]:
    """Yields model.train() in a program that freezes a part of the model in another file."""
    trains = [
        call
        for call in code.calls.get("train", ())
        if not call.args and last_name(receiver(call) or call).lower() in MODELS
    ]
    if not trains or not code.calls.get("backward") or is_dead(code, trains[0]):
        return
    for file in program(code, "requires_grad"):
        if file is code or _keeps_statistics(file) or not _is_used(code, file):
            continue
        for _, model in _frozen(file):
            if _has_batch_norm(file, model):
                yield Hit(
                    trains[0],
                    f"{source(trains[0], 40)} also sets the BatchNorm layers of "
                    f"{source(model, 40)} to train mode, so their statistics change although the "
                    "weights are frozen",
                )
                return


def _is_used(code: Code, file: Code) -> bool:
    """True if this file imports the other file, or if a third file imports both."""
    return imports(code, file) or any(
        imports(other, file) and imports(other, code) for other in program(code, "train")
    )


def _frozen(code: Code) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Yields model.requires_grad_(False), and the loops that freeze all parameters of a model."""
    for call in code.calls.get("requires_grad_", ()):
        model = receiver(call)
        if model is not None and path(model) and call.args and constant(call.args[0]) is False:
            yield call, model
    for loop in code.all(ast.For):
        over = loop.iter
        target = loop.target
        if isinstance(over, ast.Call) and last_name(over.func) == "named_parameters":
            target = target.elts[1] if isinstance(target, ast.Tuple) else target
        elif not isinstance(over, ast.Call) or last_name(over.func) != "parameters":
            continue
        model = receiver(over)
        if model is None or any(isinstance(each, ast.If) and each.orelse for each in loop.body):
            continue
        for statement in loop.body:
            inner = statement.body[0] if isinstance(statement, ast.If) else statement
            if _freezes(inner, path(target)):
                yield inner, model
                break


def _freezes(statement: ast.stmt, name: str) -> bool:
    """True for `p.requires_grad = False` and `p.requires_grad_(False)`."""
    if isinstance(statement, ast.Assign):
        is_flag = path(statement.targets[0]) == f"{name}.requires_grad"
        return is_flag and constant(statement.value) is False
    call = getattr(statement, "value", None)
    if not isinstance(call, ast.Call) or path(call.func) != f"{name}.requires_grad_":
        return False
    return bool(call.args) and constant(call.args[0]) is False


def _has_batch_norm(code: Code, model: ast.expr) -> bool:
    """True for a model of torchvision with BatchNorm, and for a Sequential of its layers."""
    call = creating_call(code, model)
    if call is None and isinstance(model, ast.Attribute):
        whole = creating_call(code, model.value)  # model.layer1
        if whole is not None and model.attr.startswith("layer") and _is_normalized(code, whole):
            return True
        part = code.value(model)  # self.features = net.features
        whole = creating_call(code, part.value) if isinstance(part, ast.Attribute) else None
        if whole is not None and _is_normalized(code, whole):
            return True
        return model.attr.startswith(NORMALIZED)
    if call is None:
        return False
    if last_name(call.func) == "Sequential":
        parts = [part for value in call.args for part in ast.walk(value)]
        parts += [
            inner for part in parts for inner in ast.walk(code.value(part) or part) if path(part)
        ]
        return any(
            _is_normalized(code, made)
            for part in parts
            if isinstance(part, ast.Name) and (made := creating_call(code, part)) is not None
        )
    return _is_normalized(code, call)


def _is_normalized(code: Code, call: ast.Call) -> bool:
    name = code.full(call.func)
    if name in ("timm.create_model", "torch.hub.load"):
        texts = [constant(value) for value in call.args]
        return any(isinstance(text, str) and text.startswith(NORMALIZED) for text in texts)
    if name.startswith("torchvision."):
        return last_name(call.func).startswith(NORMALIZED)
    made = class_of(code, call)
    return made is not None and any(
        isinstance(part, ast.Call) and made.code.torch(part.func) in BATCH_NORMS
        for part in ast.walk(made.node)
    )


def _keeps_statistics(code: Code) -> bool:
    """True if the file sets parts of a model to eval mode, or defines its own train()."""
    if any(
        function.name == "train" and is_network(code, code.owner(function))
        for function in _methods(code)
    ):
        return True
    asked = [(test, source(test)) for test in _tests(code)]
    asked += [(text, str(text.value)) for text in code.all(ast.Constant)]
    return any(
        len(word) < 200 and "BatchNorm" in word and not _only_initializes(code, node)
        for node, word in asked
    ) or any(
        ("." in path(receiver(call)) or "backbone" in path(receiver(call)))
        and last_name(receiver(call) or call).lower() not in MODELS
        for call in code.calls.get("eval", ())
    )


def _only_initializes(code: Code, node: ast.AST) -> bool:
    """True if the function that asks for BatchNorm layers only sets their weights."""
    function = code.function(node)
    return isinstance(function, ast.FunctionDef) and not (
        code.calls_in(function, "eval", "train", "requires_grad_")
        or {"requires_grad", "training", "track_running_stats", "momentum"} & names(function)
    )


def _methods(code: Code) -> list[ast.FunctionDef]:
    return [
        function
        for function in code.all(ast.FunctionDef)
        if isinstance(code.parent[function], ast.ClassDef)
    ]


def _tests(code: Code) -> list[ast.expr]:
    return [call.args[1] for call in code.calls.get("isinstance", ()) if len(call.args) == 2]


def _trains(code: Code) -> bool:
    """True if the code calls train(), or trains in the mode of a new model, which is train mode."""
    return bool(code.calls.get("backward")) or any(
        isinstance(call.func, ast.Attribute) and not call.args
        for call in code.calls.get("train", ())
    )


def _frozen_in_a_fragment(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("requires_grad_", ()):
        model = path(receiver(call))
        evaluated = any(path(receiver(other)) == model for other in code.calls.get("eval", ()))
        if constant(call.args[0] if call.args else None) is False and model and not evaluated:
            yield Hit(
                call, f"train() sets {model} to train mode, so its BatchNorm statistics change"
            )
