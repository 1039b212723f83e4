from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, constant, path, source
from ...created import CONSTANTS, RANDOM, factory, kept_tensors, uses
from ...project import around
from ...training import is_dead, is_fragment, is_network
from .. import needs

FILLED = frozenset({"zeros", "ones", "full"})
STATISTIC = re.compile(r"(?:running|moving|global)_|(?:^|_)ema(?:_|$)|self\.ema")


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
        for node, name in _running_statistics(code, owner):
            if not is_dead(code, node):
                yield Hit(
                    node,
                    f"state_dict() does not contain {name}, so a loaded model starts again from "
                    f"{source(node.value, 40)}",
                )


def _running_statistics(code: Code, owner: ast.ClassDef) -> Iterator[tuple[ast.Assign, str]]:
    """Yields the tensors that training updates, such as self.running_mean, if they are no buffers.

    For example, `self.running_mean = 0.9 * self.running_mean + 0.1 * mean` updates one.
    """
    for node in ast.walk(owner):
        if not isinstance(node, ast.Assign) or factory(code, node.value, FILLED) is None:
            continue
        name = path(node.targets[0])
        is_first = getattr(code.function(node), "name", "") == "__init__"
        if not is_first or not STATISTIC.search(name) or not name.startswith("self."):
            continue
        texts = {constant(part) for part in ast.walk(owner) if isinstance(part, ast.Constant)}
        if name.removeprefix("self.") not in texts and any(
            isinstance(other, ast.Assign)
            and other is not node
            and any(path(part) == name for target in other.targets for part in ast.walk(target))
            and any(path(part) == name for part in ast.walk(other.value))
            and isinstance(other.value, (ast.BinOp, ast.Call))
            and (not isinstance(other.value, ast.Call) or len(other.value.args) > 1)
            for other in ast.walk(owner)
        ):
            yield node, name
