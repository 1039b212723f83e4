from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ...check import Check


class PlainTensorIsNotSaved(Check):
    level = "note"
    change = "Register the tensor with register_buffer(), or make it an nn.Parameter"

    def state_read(self, module: nn.Module, state: Any) -> str | None:
        for part in module.modules():
            for key, value in vars(part).items():
                if key[0] == "_" or not isinstance(value, torch.Tensor) or not value.is_leaf:
                    continue  # a result is kept to look at it
                if value.numel() > 1:
                    name = self.run.facts.name_of(part)
                    return f"the tensor {key} of {name} is a plain attribute, so it is not saved"
        return None
