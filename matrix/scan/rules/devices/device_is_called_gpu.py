from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, replaced, source
from .. import needs


@needs("gpu")
def device_is_called_gpu(code: Code) -> Iterator[Hit]:
    for call in (*code.calls.get("device", ()), *code.calls.get("to", ())):
        made = code.full(call.func) == "torch.device"
        if not made and (last_name(call.func) != "to" or "jax" in code.text):
            continue
        for value in [*call.args[:1], argument(call, -1, "device")]:
            for part in ast.walk(value) if value is not None else ():
                name = constant(part) if isinstance(part, ast.expr) else None
                if (
                    isinstance(name, str)
                    and name.partition(":")[0] == "gpu"
                    and _is_chosen(value, part)
                ):
                    edit = replaced(part, repr(name.replace("gpu", "cuda", 1)).replace("'", '"'))
                    yield Hit(
                        part, f"{source(part)} is not a torch device; a GPU is called cuda", (edit,)
                    )


def _is_chosen(value: ast.expr | None, part: ast.AST) -> bool:
    """True if the part is the value itself, or one of the two values of `a if test else b`."""
    if isinstance(value, ast.IfExp):
        return part in (value.body, value.orelse)
    return part is value
