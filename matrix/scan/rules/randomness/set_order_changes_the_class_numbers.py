from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, names, path, receiver, source
from .. import needs

# A set of numbers has the same order in every process.
NUMBERS = frozenset("id ids idx index indices int range number numbers nodes".split())


@needs("set(", "enumerate|index")
def set_order_changes_the_class_numbers(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("enumerate", ()):
        those = _set(code, call.args[0]) if call.args else None
        above = code.parent[call]
        mapping = code.parent.get(above)
        if those is None or not isinstance(above, ast.comprehension):
            continue
        if not isinstance(mapping, ast.DictComp) or not _numbers(above, mapping):
            continue
        if _outlives(code) and not _is_kept(code, mapping):
            yield Hit(
                mapping,
                f"{source(those)} is ordered differently in every process, so the numbers change",
            )


def _set(code: Code, node: ast.expr) -> ast.AST | None:
    """The set whose order it has: set(names), list(set(names)), or the name that was given."""
    if any(path(node) and path(receiver(one)) == path(node) for one in code.calls.get("sort", ())):
        return None
    value = code.value(node)
    while isinstance(value, ast.Call) and last_name(value.func) in ("list", "tuple") and value.args:
        value = code.value(value.args[0])
    if isinstance(value, ast.SetComp):
        return value
    if not isinstance(value, ast.Call) or code.full(value.func) != "set" or len(value.args) != 1:
        return None
    texts = {one.value for one in ast.walk(value.args[0]) if isinstance(one, ast.Constant)}
    words = names(value.args[0]) | {one for one in texts if isinstance(one, str)}
    parts = {part for word in words for part in word.lower().split("_")}
    return None if parts & NUMBERS else value


def _numbers(given: ast.comprehension, mapping: ast.DictComp) -> bool:
    """Whether it is {name: number for number, name in ...}, or the other way round."""
    if not isinstance(given.target, ast.Tuple) or len(given.target.elts) != 2:
        return False
    return {path(mapping.key), path(mapping.value)} == {path(one) for one in given.target.elts}


def _outlives(code: Code) -> bool:
    """Whether a model is saved or loaded here, for which the numbers stand."""
    imports = code.all(ast.Import) + code.all(ast.ImportFrom)
    words = ("state_dict", "save_pretrained", "save_model", "save_checkpoint", "save_state")
    return not imports or any(word in name for name in code.calls for word in words)


def _is_kept(code: Code, mapping: ast.DictComp) -> bool:
    """Whether the numbers are written out, so that the next process can read them."""
    statement = code.statement(mapping)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    kept = {path(target) for target in targets}
    function = code.function(mapping)
    for one in code.within(function, ast.Return):  # the caller may write them out
        if one.value is mapping or path(one.value) in kept - {""}:
            for call in code.calls.get(getattr(function, "name", ""), ()):
                above = code.parent[call]
                given = above.targets if isinstance(above, ast.Assign) else []
                kept |= {path(part) for target in given for part in ast.walk(target)} - {""}
    return any(
        "dump" in name or "save" in name or "write" in name
        for name, calls in code.calls.items()
        for call in calls
        for part in ast.walk(call)
        if path(part) in kept
    )
