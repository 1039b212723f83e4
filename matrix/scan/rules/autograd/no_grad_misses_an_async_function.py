from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, source
from ...training import NO_GRAD
from .. import needs


@needs("async def", "no_grad|inference_mode|set_grad_enabled")
def no_grad_misses_an_async_function(code: Code) -> Iterator[Hit]:
    for function in code.all(ast.AsyncFunctionDef):
        for decorator in function.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if last_name(called) in NO_GRAD and code.full(called).startswith("torch."):
                yield Hit(
                    decorator,
                    f"{source(called)} ends when {function.name}() returns its coroutine, before "
                    "the body runs",
                )
