from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, last_name, path, receiver, source
from ...training import is_dead, is_fragment, is_network
from .. import needs
from .shared import is_test

# What a module becomes another object by, or what is none.
OTHERS = ("state_dict", "script", "trace", "freeze", "symbolic_trace", "convert", "export")
MOVES = ("to", "cuda", "cpu", "half", "float", "eval", "train")


@needs("save(", "torch")
def whole_model_needs_its_class(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("save", ()):
        if (
            code.full(call.func) == "torch.save"
            and (model := argument(call, 0, "obj")) is not None
            and _is_model(code, model)
            and not is_test(code, call)
            and not is_dead(code, call)
        ):
            yield Hit(
                call,
                f"{source(call)} saves the import path of the class of {source(model)}, not its "
                "code",
            )


def _is_model(code: Code, node: ast.AST) -> bool:
    """Whether it is certainly a module: by its class, or because it has parameters()."""
    name = path(node)
    if is_fragment(code):
        return name in ("model", "net")
    values = code.values(node) if name else [node]
    made = [one for one in map(_made, filter(None, values)) if isinstance(one, ast.Call)]
    made = [one for one in made if last_name(one.func) != "load"]  # of the best epoch, at the end
    if not made or any(last_name(one.func) in OTHERS for one in made):
        return False
    if all(_makes_module(code, one) for one in made):
        return True
    return bool(name) and any(
        path(call.func) in (f"{name}.parameters", f"{name}.named_parameters")
        and (code.owner(call) is code.owner(node) or not name.startswith("self."))
        for called in ("parameters", "named_parameters")
        for call in code.calls.get(called, ())
    )


def _made(value: ast.AST) -> ast.AST:
    """Net() of Net().to(device)."""
    while isinstance(value, ast.Call) and last_name(value.func) in MOVES:
        model = receiver(value)
        if model is None:
            break
        value = model
    return value


def _makes_module(code: Code, made: ast.Call) -> bool:
    name = code.full(made.func)
    return (name.startswith("torch.nn.") and last_name(made.func)[:1].isupper()) or any(
        isinstance(one, ast.ClassDef) and one.name == name and is_network(code, one)
        for one in code.all(ast.ClassDef)
    )
