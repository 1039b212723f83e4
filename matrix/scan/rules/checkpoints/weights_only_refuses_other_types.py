from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, has_unpacked, last_name, path, place, source
from ...training import expects_an_error, in_a_test, is_fragment
from .. import needs

OF_A_MODULE = ("eval", "train", "parameters", "state_dict", "load_state_dict", "modules")


@needs("torch.load(")
def weights_only_refuses_other_types(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("load", ()):
        if code.full(call.func) != "torch.load" or has_unpacked(call):
            continue
        if argument(call, -1, "weights_only") is not None or argument(call, -1, "pickle_module"):
            continue
        if in_a_test(code, call) or expects_an_error(code, call):
            continue
        statement = code.statement(call)
        if not isinstance(statement, ast.Assign) or statement.value is not call:
            continue
        name = path(statement.targets[0])
        if name and (_is_a_module(code, statement, name) or _saves_other_types(code)):
            yield Hit(
                call,
                f"{source(call, 40)} loads tensors and plain types only, and {name} is a whole "
                "object",
            )


def _is_a_module(code: Code, statement: ast.Assign, name: str) -> bool:
    """True if the code uses what it has loaded like a module, before it assigns the name again."""
    function = code.function(statement)
    later = [
        place(other)
        for other in code.within(function, ast.Assign)
        if place(other) > place(statement)
        and path(other.targets[0]) == name
        and not code.excludes(statement, other)
    ]
    until = min(later, default=(10**9, 0))
    return any(
        place(statement) < place(call) <= until
        and last_name(call.func) in OF_A_MODULE
        and path(getattr(call.func, "value", None)) == name
        for call in code.calls_in(function)
    )


def _saves_other_types(code: Code) -> bool:
    """True for a fragment that also saves its options in the checkpoint."""
    return is_fragment(code) and any(
        path(value) == "args"
        for table in code.all(ast.Dict)
        for key, value in zip(table.keys, table.values, strict=True)
        if constant(key) == "args"
    )
