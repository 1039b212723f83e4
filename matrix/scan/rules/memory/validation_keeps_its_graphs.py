from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, path, place, receiver
from ...training import backwards, in_a_test, is_fragment, without_grad
from .. import needs


@needs(".eval()", ".append(")
def validation_keeps_its_graphs(code: Code) -> Iterator[Hit]:
    for put in code.calls.get("append", ()):
        container = path(receiver(put))
        if len(put.args) != 1 or not container or not code.loops(put):
            continue
        output = code.value(put.args[0])
        if not isinstance(output, ast.Call) or not path(output.func):
            continue
        function, model = code.function(put), path(output.func)
        evals = [
            call
            for call in code.calls.get("eval", ())
            if (_is_called_as(path(receiver(call)), model) or is_fragment(code))
            and place(call) < place(output)
            and code.function(call) is function
        ]
        if (
            evals
            and not without_grad(code, output)
            and not backwards(code, function)
            and not in_a_test(code, put)
            and not code.calls_in(function, "set_grad_enabled", "requires_grad_", "grad")
            and not code.calls_in(code.tree, "set_grad_enabled")
            and not _is_called_without_grad(code, function)
        ):
            yield Hit(
                put,
                f"{container} keeps the graph of every output of {model}(), because eval() does "
                "not turn off autograd",
            )


def _is_called_as(evaluated: str, name: str) -> bool:
    """True if calling this name runs the model whose eval() was called."""
    if evaluated == "self":
        return name in ("self", "self.forward", "self.model", "self.net", "self.network")
    return name in (evaluated, f"{evaluated}.forward") or evaluated == f"self.{name}"


def _is_called_without_grad(code: Code, function: ast.AST) -> bool:
    name = getattr(function, "name", "")
    return any(without_grad(code, call) for call in code.calls.get(name, ()))
