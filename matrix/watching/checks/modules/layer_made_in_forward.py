from __future__ import annotations

import weakref

import torch

from ...check import Check
from ...events import Call
from .shared import is_stray


class LayerMadeInForward(Check):
    level = "error"
    change = "Create the layer in __init__()"

    def called(self, call: Call) -> str | None:
        if not is_stray(call):
            return None
        for parent in call.parents:
            for value in vars(parent).values():
                held = value.values() if isinstance(value, dict) else value
                if value is call.module:
                    return None
                if isinstance(value, (list, tuple, dict)) and any(call.module is e for e in held):
                    return None  # see layers_in_a_list_never_train
        kind, name = type(call.module).__name__, self.run.facts.name_of(call.parents[-1])
        message = f"forward() of {name} makes a {kind} in each call"
        reference = weakref.ref(call.module)
        self.ask(torch.zeros(()), lambda _: None if reference() else message)  # held elsewhere
        return None
