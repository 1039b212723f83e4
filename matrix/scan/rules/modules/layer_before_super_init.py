from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, path, place, source
from ...training import expects_an_error, is_fragment, is_network
from .. import needs
from .shared import CONTAINERS, LAYERS, is_direct_module


@needs("__init__", "self.")
def layer_before_super_init(code: Code) -> Iterator[Hit]:
    fragment = is_fragment(code)
    for node in code.all(ast.Assign):
        name = path(node.targets[0])
        if not name.startswith("self.") or not _is_torch_module(code, node.value):
            continue
        owner, function = code.owner(node), code.function(node)
        if not fragment and (
            not is_network(code, owner)
            or getattr(function, "name", "") != "__init__"
            or code.parent[function] is not owner
            or name.count(".") != 1
            or expects_an_error(code, node)
        ):
            continue
        inits = code.calls_in(function, "__init__")
        if inits and all(place(init) > place(node) for init in inits):
            yield Hit(node, f"assigning {name} before {source(inits[0])} raises an error")
        elif (
            not inits
            and not code.calls_in(function, "super")  # a misspelled super().__init__() raises first
            and not any(code.owner(call) is owner for call in code.calls.get("__init__", ()))
            and owner is not None
            and is_direct_module(code, owner)
        ):
            yield Hit(
                node,
                f"{owner.name} never calls super().__init__(), so {name} = ... raises an error",
            )


def _is_torch_module(code: Code, value: ast.AST) -> bool:
    """True if the value is a call that creates a torch module or parameter."""
    if not isinstance(value, ast.Call):
        return False
    package, _, name = code.full(value.func).rpartition(".")
    return code.torch(value.func) in (*LAYERS, *CONTAINERS, "Parameter") or (
        package == "torch.nn" and name[:1].isupper()
    )
