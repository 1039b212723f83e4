from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, source
from ...project import program
from ...training import expects_an_error, in_a_test, is_dead, is_fragment
from .. import needs

VARIABLE = "CUBLAS_WORKSPACE_CONFIG"


@needs("use_deterministic_algorithms|put_(")
def deterministic_mode_raises(code: Code) -> Iterator[Hit]:
    if is_fragment(code):
        for call in code.calls.get("put_", ()):
            yield Hit(call, f"{source(call, 40)} has no deterministic implementation")
        return
    for call in code.calls.get("use_deterministic_algorithms", ()):
        if (
            code.torch(call.func)
            and constant(argument(call, 0, "mode")) is True
            and constant(argument(call, -1, "warn_only") or ast.Constant(False)) is False
            and not in_a_test(code, call)
            and not expects_an_error(code, call)
            and not is_dead(code, call)
            and any("cuda" in file.text for file in program(code, "cuda"))
            and not any(_sets_the_variable(file) for file in program(code, VARIABLE))
        ):
            yield Hit(
                call,
                f"nothing sets {VARIABLE}, without which matrix products on CUDA raise an error",
            )


def _sets_the_variable(code: Code) -> bool:
    """True unless the file only reads the variable, as in os.environ.get(VARIABLE)."""
    for part in code.all(ast.Constant):
        if not isinstance(part.value, str) or VARIABLE not in part.value:
            continue
        above = code.parent[part]
        if isinstance(above, ast.Call) and ast.unparse(above.func).endswith((".get", "getenv")):
            continue
        if isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Load):
            continue
        if isinstance(above, (ast.Expr, ast.List, ast.Tuple)):  # a docstring, or recorded names
            continue
        return True
    return False
