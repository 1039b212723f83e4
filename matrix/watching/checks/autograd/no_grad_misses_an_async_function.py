from __future__ import annotations

import inspect
from typing import Any

from ...check import Check


class NoGradMissesAnAsyncFunction(Check):
    level = "error"
    change = "Write `with torch.no_grad():` inside the async function"

    def decorating(self, context: Any, function: Any) -> str | None:
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            name = getattr(function, "__qualname__", "an async function")
            return f"@{type(context).__name__}() on {name}() ends before its body runs"
        return None
