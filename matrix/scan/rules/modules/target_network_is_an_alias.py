from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, path, source
from ...training import class_of, creating_call, is_fragment, is_network
from .. import needs

NETWORKS = ("net", "network", "model", "critic", "actor", "policy", "q", "qnet", "encoder", "dqn")


@needs("target")
def target_network_is_an_alias(code: Code) -> Iterator[Hit]:
    for assignment in code.all(ast.Assign):
        target, value = assignment.targets[0], assignment.value
        if "target" not in last_name(target).lower() or not path(target) or not path(value):
            continue
        if "target" not in last_name(value).lower() and _is_a_network(code, value):
            yield Hit(
                assignment,
                f"{source(target)} is another name for {source(value)}, so every step changes both",
            )


def _is_a_network(code: Code, name: ast.expr) -> bool:
    maker = creating_call(code, name)
    if maker is None:
        return is_fragment(code) and last_name(name) in NETWORKS and not code.values(name)
    if code.full(maker.func) in ("torch.nn.Sequential", "torch.nn.Linear"):
        return True
    found = class_of(code, maker)
    owner = found.node if found is not None else None
    return isinstance(owner, ast.ClassDef) and is_network(found.code, owner)  # type: ignore[union-attr]
