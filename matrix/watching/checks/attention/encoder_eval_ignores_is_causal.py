from __future__ import annotations

from torch import nn

from ...check import Check
from ...events import Call


class EncoderEvalIgnoresIsCausal(Check):
    level = "error"
    change = "Pass the causal mask as src_mask too"

    def called(self, call: Call) -> str | None:
        module = call.module
        if not isinstance(module, nn.TransformerEncoderLayer) or call.grad or module.training:
            return None
        mask = call.args[1] if len(call.args) > 1 else call.kwargs.get("src_mask")
        causal = call.args[3] if len(call.args) > 3 else call.kwargs.get("is_causal")
        if causal and mask is None and module.self_attn.batch_first:
            return f"{self.run.facts.name_of(module)} ignores is_causal=True without a mask"
        return None
