from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ...check import Check
from ...events import Call


class PaddingIsNotMasked(Check):
    level = "warning"
    change = "Pass src_key_padding_mask=(tokens == padding_idx)"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._padded: Any = None  # whether the tokens of this call contain padding
        self._shape: tuple[int, ...] = ()  # of the tokens

    def called(self, call: Call) -> str | None:
        module = call.module
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            self._shape = tuple(call.input.shape)
            self._padded = (call.input == module.padding_idx).any()
        layer = isinstance(module, (nn.TransformerEncoder, nn.TransformerEncoderLayer))
        if layer and self._padded is not None:
            given = [*call.args[1:], *call.kwargs.values()]
            name = self.run.facts.name_of(module)
            masked = any(isinstance(each, torch.Tensor) for each in given)
            if not masked and _has_shape(call.input, self._shape):
                self.ask(
                    self._padded,
                    lambda padded: f"{name} gets padding without a mask" if padded else None,
                )
            self._padded = None
        return None


def _has_shape(value: Any, shape: tuple[int, ...]) -> bool:
    """True if the value can be the vectors of these tokens. In a nested tensor, padding is left
    out.
    """
    if not isinstance(value, torch.Tensor) or value.is_nested:
        return False
    return value.dim() == len(shape) + 1 and not {*shape}.isdisjoint(value.shape[:-1])
