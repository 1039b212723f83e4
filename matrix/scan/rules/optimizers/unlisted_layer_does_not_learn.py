from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, path, receiver
from ...project import Definition
from ...training import OPTIMIZERS, class_of, creating_call, is_dead, is_network
from .. import needs
from ..modules.shared import has_parameters


@needs("optim|SGD|Adam", "parameters()")
def unlisted_layer_does_not_learn(code: Code) -> Iterator[Hit]:
    calls = [
        call
        for name in OPTIMIZERS
        for call in code.calls.get(name, ())
        if code.torch(call.func) == name and not is_dead(code, call)
    ]
    listed = {
        part for call in calls for value in _parts(code, call) for part in (path(value),) if part
    }
    for call in calls:
        if _keeps_only_weights(code, call):
            yield Hit(call, "parameters with other names are in no group, so they do not learn")
        models = {path(value).rpartition(".")[0] for value in _parts(code, call)}
        model = models.pop() if len(models) == 1 else ""
        if not model or model == "self" or model in listed:
            continue
        owner = _class_of(code, call, model)
        missing = _missing(code, owner, model, listed) if owner is not None else ""
        if missing:
            yield Hit(
                call,
                f"{model}.{missing} is in no optimizer of this file, so it keeps its initial "
                "weights",
            )


def _parts(code: Code, call: ast.Call) -> list[ast.expr]:
    """The modules whose parameters() the optimizer gets."""
    params = code.value(argument(call, 0, "params"))
    parts = [] if params is None else list(ast.walk(params))
    for part in list(parts):
        value = code.value(part) if path(part) else None
        parts += list(ast.walk(value)) if value is not None and value is not part else []
    return [
        module
        for part in parts
        if isinstance(part, ast.Call)
        and last_name(part.func) in ("parameters", "named_parameters")
        and (module := receiver(part)) is not None
    ]


def _class_of(code: Code, call: ast.Call, model: str) -> Definition | None:
    name = next(
        value.value
        for value in _parts(code, call)
        if isinstance(value, ast.Attribute) and path(value.value) == model
    )
    maker = creating_call(code, name)
    makers = [maker] if maker is not None else code.values(name)  # or a model that was loaded
    classes = [class_of(code, one) for one in makers if isinstance(one, ast.Call)]
    found = next((one for one in classes if one is not None), None)
    is_class = found is not None and isinstance(found.node, ast.ClassDef)
    return found if is_class and is_network(found.code, found.node) else None  # type: ignore


def _missing(code: Code, found: Definition, model: str, listed: set[str]) -> str:
    """The first attribute with parameters that forward() uses and that no optimizer gets."""
    own, owner = found
    assert isinstance(owner, ast.ClassDef)
    if _freezes(own.text) or _freezes(code.text):
        return ""
    parts = [name.rpartition(".")[2] for name in listed if name.startswith(f"{model}.")]
    if not all(_is_assigned(own, owner, part) for part in parts):
        return ""
    methods = [part for part in owner.body if isinstance(part, ast.FunctionDef)]
    for method in methods:
        for node in own.within(method, ast.Assign) if method.name == "__init__" else ():
            name = path(node.targets[0])
            attribute = name.removeprefix("self.")
            if name == attribute or "." in attribute or f"{model}.{attribute}" in listed:
                continue
            value = node.value
            while isinstance(value, ast.Call) and last_name(value.func) in ("to", "cuda"):
                inner = receiver(value)
                if inner is None:
                    break
                value = inner
            is_parameter = isinstance(value, ast.Call) and own.torch(value.func) == "Parameter"
            if (is_parameter or has_parameters(own, value)) and any(
                path(use) == name and isinstance(use.ctx, ast.Load)
                for other in methods
                if other is not method
                for use in own.within(other, ast.Attribute)
            ):
                return attribute
    return ""


def _freezes(text: str) -> bool:
    words = (".requires_grad", "from_pretrained", "pretrained=", "weights=")
    return any(word in text for word in words)


def _is_assigned(code: Code, owner: ast.ClassDef, attribute: str) -> bool:
    return any(
        path(target) == f"self.{attribute}"
        for node in ast.walk(owner)
        if isinstance(node, ast.Assign)
        for target in node.targets
    )


def _keeps_only_weights(code: Code, call: ast.Call) -> bool:
    """True if the only group has the parameters whose names contain "weight" or "bias"."""
    groups = code.value(argument(call, 0, "params"))
    if not isinstance(groups, ast.List) or len(groups.elts) != 1:
        return False
    tests = [
        test
        for part in ast.walk(groups)
        if isinstance(part, ast.comprehension)
        for test in part.ifs
    ]
    grown = any(
        path(update.target) == path(argument(call, 0, "params"))
        for update in code.within(code.function(call), ast.AugAssign)
    ) or bool(code.calls_in(code.function(call), "add_param_group", "append", "extend"))
    return not grown and any(
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.In)
        and constant(test.left) in ("weight", "bias")
        for test in tests
    )
