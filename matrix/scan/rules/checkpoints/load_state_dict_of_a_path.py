from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, path, receiver, source
from ...training import certain, expects_an_error, is_fragment
from .. import needs

FILES = ("os.path.join", "pathlib.Path", "str", "os.fspath")
NETWORKS = ("model", "net", "coder", "backbone", "crimin", "generator", "critic", "optim", "sched")


@needs("load_state_dict")
def load_state_dict_of_a_path(code: Code) -> Iterator[Hit]:
    imported = {alias.asname or alias.name.partition(".")[0] for alias in code.all(ast.alias)}
    own = any(getattr(function, "name", "") == "load_state_dict" for function in _functions(code))
    for call in code.calls.get("load_state_dict", ()):
        state, model = argument(call, 0, "state_dict"), receiver(call)
        if (
            not own
            and model is not None
            and state is not None
            and path(model).partition(".")[0] not in imported
            and (is_fragment(code) or _is_of_torch(code, model))
            and _is_path(code, state, model)
            and not expects_an_error(code, call)
        ):
            yield Hit(
                call,
                f"{source(state)} is a file name, not the state_dict that torch.load() returns",
            )


def _functions(code: Code) -> list[ast.AST]:
    return code.all(ast.FunctionDef) + code.all(ast.AsyncFunctionDef)


def _is_of_torch(code: Code, node: ast.expr) -> bool:
    """True if the node is a network or an optimizer, judging by its class or its name.

    Other objects may open the file themselves.
    """
    value = code.value(node)
    if isinstance(value, ast.Call) and code.full(value.func).startswith("torch."):
        return True
    words = path(node.func if isinstance(node, ast.Call) else node).lower()
    return any(word in words for word in NETWORKS)


def _is_path(code: Code, node: ast.AST, model: ast.expr) -> bool:
    """True if the node is a file name, judging by its value or its name."""
    value = code.value(node)
    if value is not None and not certain(code, value, node):
        return False
    if isinstance(value, ast.JoinedStr) or isinstance(constant(value), str):
        return constant(value) != ""
    if isinstance(value, ast.BinOp):  # folder / "model.pt", folder + "model.pt"
        return isinstance(constant(value.right), str)
    if isinstance(value, ast.Call):
        return code.full(value.func) in FILES
    name = path(node).rpartition(".")[2]
    return (
        value is None
        and (name in ("path", "filename") or name.endswith(("_path", "_file")))
        and any(word in last_name(model).lower() for word in ("model", "net", "optim"))
    )
