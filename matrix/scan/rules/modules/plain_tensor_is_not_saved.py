from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit
from ...created import CONSTANTS, RANDOM, factory, kept_tensors, uses
from ...project import around
from ...training import is_dead, is_fragment, is_network
from .. import needs


@needs("torch.", "self.")
def plain_tensor_is_not_saved(code: Code) -> Iterator[Hit]:
    if is_fragment(code):
        for node in code.all(ast.Assign):
            if factory(code, node.value, CONSTANTS) is not None and "self.mean" in code.text:
                yield Hit(node, "state_dict() does not contain this tensor")
        return
    if not any(file.calls.get("load_state_dict") for file in around(code, "load_state_dict(")):
        return
    for owner in code.all(ast.ClassDef):
        if not is_network(code, owner):
            continue
        for node, name in kept_tensors(code, owner, RANDOM):
            if any(uses(code, owner, name)) and not is_dead(code, node):
                yield Hit(
                    node,
                    f"state_dict() does not contain {name}, so a loaded model draws different "
                    "values",
                )
