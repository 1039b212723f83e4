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

    def called(self, call: Call) -> str | None:
        module = call.module
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            self._padded = (call.input == module.padding_idx).any()
        layer = isinstance(module, (nn.TransformerEncoder, nn.TransformerEncoderLayer))
        if layer and self._padded is not None:
            given = [*call.args[1:], *call.kwargs.values()]
            name = self.run.facts.name_of(module)
            if not any(isinstance(each, torch.Tensor) for each in given):
                self.ask(
                    self._padded,
                    lambda padded: f"{name} gets padding without a mask" if padded else None,
                )
            self._padded = None
        return None
