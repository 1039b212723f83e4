from __future__ import annotations

import torch

from ...check import Check
from ...events import Call, node_name


class ParameterMovedInInit(Check):
    level = "error"
    change = "Create the tensor on the device, with its dtype, inside nn.Parameter()"

    def called(self, call: Call) -> str | None:
        for name, value in vars(call.module).items():
            if not isinstance(value, torch.Tensor) or value.grad_fn is None:
                continue
            if node_name(value.grad_fn) not in ("ToCopyBackward", "CopyBackwards"):
                continue
            source = getattr(value.grad_fn.next_functions[0][0], "variable", None)
            root = call.parents[0] if call.parents else call.module
            if isinstance(source, torch.nn.Parameter):
                models = [root, *self.run.facts.models()]
                if all(source is not each for model in models for each in model.parameters()):
                    kind = type(call.module).__name__
                    return f"{kind}.{name} is a copy of a parameter, not a parameter of the model"
        return None
