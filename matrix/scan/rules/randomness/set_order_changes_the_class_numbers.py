from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, names, path, receiver, source
from .. import needs

# Sets of numbers have the same order in every process.
NUMBERS = frozenset("id ids idx index indices int range number numbers nodes".split())


@needs("set(", "enumerate|index")
def set_order_changes_the_class_numbers(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("enumerate", ()):
        members = _set(code, call.args[0]) if call.args else None
        above = code.parent[call]
        mapping = code.parent.get(above)
        if members is None or not isinstance(above, ast.comprehension):
            continue
        if not isinstance(mapping, ast.DictComp) or not _numbers(above, mapping):
            continue
        if _outlives(code) and not _is_kept(code, mapping):
            yield Hit(
                mapping,
                f"{source(members)} is ordered differently in every process, so the numbering "
                "changes",
            )


def _set(code: Code, node: ast.expr) -> ast.AST | None:
    """The set behind the node, such as set(names), list(set(names)), or the value of a name."""
    if any(
        path(node) and path(receiver(call)) == path(node) for call in code.calls.get("sort", ())
    ):
        return None
    value = code.value(node)
    while isinstance(value, ast.Call) and last_name(value.func) in ("list", "tuple") and value.args:
        value = code.value(value.args[0])
    if isinstance(value, ast.SetComp):
        return value
    if not isinstance(value, ast.Call) or code.full(value.func) != "set" or len(value.args) != 1:
        return None
    texts = {part.value for part in ast.walk(value.args[0]) if isinstance(part, ast.Constant)}
    words = names(value.args[0]) | {text for text in texts if isinstance(text, str)}
    parts = {part for word in words for part in word.lower().split("_")}
    return None if parts & NUMBERS else value


def _numbers(generator: ast.comprehension, mapping: ast.DictComp) -> bool:
    """True for {name: number for number, name in ...}, and for {number: name for ...}."""
    if not isinstance(generator.target, ast.Tuple) or len(generator.target.elts) != 2:
        return False
    return {path(mapping.key), path(mapping.value)} == {
        path(element) for element in generator.target.elts
    }


def _outlives(code: Code) -> bool:
    """True if the file saves or loads a model, which depends on the numbers."""
    imports = code.all(ast.Import) + code.all(ast.ImportFrom)
    words = ("state_dict", "save_pretrained", "save_model", "save_checkpoint", "save_state")
    return not imports or any(word in name for name in code.calls for word in words)


def _is_kept(code: Code, mapping: ast.DictComp) -> bool:
    """True if the numbers are written to a file, so that the next process can read them."""
    statement = code.statement(mapping)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    mappings = {path(target) for target in targets}
    function = code.function(mapping)
    for returned in code.within(function, ast.Return):  # the caller may write the numbers
        if returned.value is mapping or path(returned.value) in mappings - {""}:
            for call in code.calls.get(getattr(function, "name", ""), ()):
                above = code.parent[call]
                results = above.targets if isinstance(above, ast.Assign) else []
                mappings |= {path(part) for target in results for part in ast.walk(target)} - {""}
    return any(
        "dump" in name or "save" in name or "write" in name
        for name, calls in code.calls.items()
        for call in calls
        for part in ast.walk(call)
        if path(part) in mappings
    )
