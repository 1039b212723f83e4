from __future__ import annotations

from typing import Any

from torch import nn

from ...check import Check


class StrictFalseLoadsNothing(Check):
    level = "error"
    change = "Rename the keys, and check the result of load_state_dict()"

    def loaded(self, module: nn.Module, state: Any, result: Any) -> str | None:
        missing = set(getattr(result, "missing_keys", ()))
        own = {name for name, _ in module.named_parameters()}
        if state and own and own <= missing and {*state} <= {*result.unexpected_keys}:
            given, expected = next(iter(state)), sorted(own)[0]
            return f"load_state_dict() has loaded nothing: it got {given}, and expected {expected}"
        return None
