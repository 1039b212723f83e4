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
    """A layer that is made in a list, a tuple or a dict."""
    items: list[ast.AST | None] = []
    if isinstance(value, (ast.List, ast.Tuple)):
        items = [*value.elts]
    elif isinstance(value, ast.Dict):
        items = [*value.values]
    elif isinstance(value, ast.ListComp):
        items = [value.elt]
    elif isinstance(value, ast.DictComp):
        items = [value.value]
    return next((one for one in items if has_parameters(code, one)), None)


def _appended(code: Code, owner: ast.ClassDef, node: ast.Assign | ast.AnnAssign) -> ast.AST | None:
    """A layer that is appended to what is empty at first, also by way of a local name."""
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
    """Whether the class may register the layers of the list, or yield their parameters itself,
    or freezes them.
    """
    assigned = node.targets[0] if isinstance(node, ast.Assign) else node.target
    wanted = {path(assigned), path(node.value)} - {""}
    for one in ast.walk(owner):
        if isinstance(one, FUNCTIONS) and getattr(one, "name", "") in (
            "parameters",
            "named_parameters",
            "_apply",
            "state_dict",
        ):
            return True
        if isinstance(one, ast.Attribute) and one.attr in ("_modules", "_parameters"):
            return True
        frozen = isinstance(one, ast.Attribute) and one.attr in ("requires_grad", "requires_grad_")
        if frozen and any(path(part) in wanted for part in ast.walk(code.function(one))):
            return True  # kept out on purpose
        if not isinstance(one, ast.Call):
            continue
        if last_name(one.func) in (
            "add_module",
            "register_module",
            "register_parameter",
            "setattr",
            "__setattr__",
        ):
            return True
        handed = {path(part) for given in one.args for part in ast.walk(given)}
        name = last_name(one.func)  # ModuleList, or a container of the project
        if (name[:1].isupper() or name == "__init__") and handed & wanted:
            return True
    return False


def _is_read(code: Code, owner: ast.ClassDef, name: str) -> bool:
    """Also where gradients are taken: a teacher may be kept out on purpose."""
    return any(
        isinstance(one, ast.Attribute)
        and isinstance(one.ctx, ast.Load)
        and path(one) == name
        and not without_grad(code, one)
        for one in ast.walk(owner)
    )


def _kind(code: Code, value: ast.AST) -> str:
    value = code.value(value) or value
    kinds = {ast.Dict: "dict", ast.DictComp: "dict", ast.Tuple: "tuple"}
    return kinds.get(type(value), "list")
