from __future__ import annotations

from torch import nn

from ..rnn.shared import BatchFirst


class BatchFirstIsOff(BatchFirst):
    level = "error"
    change = "Pass batch_first=True, or transpose the input"
    kinds = (nn.MultiheadAttention,)
