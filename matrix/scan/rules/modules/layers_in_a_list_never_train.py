from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import FUNCTIONS, Code, Hit, last_name, path, receiver, source
from ...training import is_dead, is_fragment, is_network, without_grad
from .. import needs
from .shared import has_parameters


@needs("self.", "append|[|{")
def layers_in_a_list_never_train(code: Code) -> Iterator[Hit]:
    for node in code.all(ast.Assign) + code.all(ast.AnnAssign):
        assert isinstance(node, (ast.Assign, ast.AnnAssign))
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        owner = code.owner(node)
        name = path(targets[0])
        if name.count(".") != 1 or not name.startswith("self.") or node.value is None:
            continue
        if is_fragment(code):
            if _layer_in(code, node.value):
                yield Hit(node, f"the layers in {name} are not registered")
            continue
        if not is_network(code, owner) or owner is None:
            continue
        if is_dead(code, node):
            continue
        layer = _layer_in(code, node.value) or _appended(code, owner, node)
        if layer and not _registers(code, owner, node) and _is_read(code, owner, name):
            yield Hit(
                node,
                f"{name} is a plain {_kind(code, node.value)}, so parameters(), to() and "
                "state_dict() "
                f"miss {source(layer, 40)} in it",
            )


def _layer_in(code: Code, value: ast.AST | None) -> ast.AST | None:
    """The first layer that is created in a list, a tuple or a dict."""
    items: list[ast.AST | None] = []
    if isinstance(value, (ast.List, ast.Tuple)):
        items = [*value.elts]
    elif isinstance(value, ast.Dict):
        items = [*value.values]
    elif isinstance(value, ast.ListComp):
        items = [value.elt]
    elif isinstance(value, ast.DictComp):
        items = [value.value]
    return next((item for item in items if has_parameters(code, item)), None)


def _appended(code: Code, owner: ast.ClassDef, node: ast.Assign | ast.AnnAssign) -> ast.AST | None:
    """The first layer that is appended to the list, possibly through a local name."""
    value = code.value(node.value)
    if not isinstance(value, ast.List):
        return None
    assigned = node.targets[0] if isinstance(node, ast.Assign) else node.target
    wanted = {path(assigned), path(node.value)} - {""}
    for call in ast.walk(owner):
        if (
            isinstance(call, ast.Call)
            and last_name(call.func) in ("append", "insert")
            and path(receiver(call)) in wanted
            and call.args
            and (
                path(receiver(call)).startswith("self.")
                or code.function(call) is code.function(node)
            )
        ):
            layer = call.args[-1]
            if "." not in path(layer) and has_parameters(code, code.value(layer)):
                return code.value(layer)
    return None


def _registers(code: Code, owner: ast.ClassDef, node: ast.Assign | ast.AnnAssign) -> bool:
    """True if the class may register the layers of the list, yield their parameters itself, or
    freeze them.
    """
    assigned = node.targets[0] if isinstance(node, ast.Assign) else node.target
    wanted = {path(assigned), path(node.value)} - {""}
    for child in ast.walk(owner):
        if isinstance(child, FUNCTIONS) and getattr(child, "name", "") in (
            "parameters",
            "named_parameters",
            "_apply",
            "state_dict",
        ):
            return True
        if isinstance(child, ast.Attribute) and child.attr in ("_modules", "_parameters"):
            return True
        frozen = isinstance(child, ast.Attribute) and child.attr in (
            "requires_grad",
            "requires_grad_",
        )
        if frozen and any(path(part) in wanted for part in ast.walk(code.function(child))):
            return True  # deliberately omitted
        if not isinstance(child, ast.Call):
            continue
        if last_name(child.func) in (
            "add_module",
            "register_module",
            "register_parameter",
            "setattr",
            "__setattr__",
        ):
            return True
        handed = {path(part) for value in child.args for part in ast.walk(value)}
        name = last_name(child.func)  # ModuleList, or a container defined by the project
        if (name[:1].isupper() or name == "__init__") and handed & wanted:
            return True
    return False


def _is_read(code: Code, owner: ast.ClassDef, name: str) -> bool:
    """True if the code reads the name outside no_grad(). A teacher model is only read inside."""
    return any(
        isinstance(use, ast.Attribute)
        and isinstance(use.ctx, ast.Load)
        and path(use) == name
        and not without_grad(code, use)
        for use in ast.walk(owner)
    )


def _kind(code: Code, value: ast.AST) -> str:
    value = code.value(value) or value
    kinds = {ast.Dict: "dict", ast.DictComp: "dict", ast.Tuple: "tuple"}
    return kinds.get(type(value), "list")
