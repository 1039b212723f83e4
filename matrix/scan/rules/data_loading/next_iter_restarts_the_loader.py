from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, has_unpacked, path, source
from ...training import in_a_test
from .. import needs


@needs("next(iter(", "DataLoader")
def next_iter_restarts_the_loader(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("next", ()):
        inner = call.args[0] if len(call.args) == 1 else None
        if not isinstance(inner, ast.Call) or path(inner.func) != "iter" or not inner.args:
            continue
        loader, loops = inner.args[0], code.loops(call)
        maker = code.value(loader)
        if not loops or not isinstance(maker, ast.Call) or code.torch(maker.func) != "DataLoader":
            continue
        loop = loops[0]
        leaves = any(
            isinstance(statement, (ast.Break, ast.Return))
            for statement in code.block(code.statement(call))
        )
        if (
            _is_in_order(maker)
            and not in_a_test(code, call)
            and not leaves
            and maker not in ast.walk(loop)
            and not any(isinstance(above, ast.ExceptHandler) for above in code.ancestors(call))
            and not any(part in source(loader).lower() for part in ("val", "test", "eval"))
        ):
            yield Hit(
                call,
                f"{source(call)} starts over in each iteration of this loop and returns "
                "the first batch",
            )


def _is_in_order(maker: ast.Call) -> bool:
    """True if the loader definitely yields the rows in the same order in every epoch."""
    if has_unpacked(maker) or len(maker.args) > 2:
        return False
    if any(argument(maker, -1, name) is not None for name in ("sampler", "batch_sampler")):
        return False
    shuffle = argument(maker, 2, "shuffle")
    return shuffle is None or constant(shuffle) is False
