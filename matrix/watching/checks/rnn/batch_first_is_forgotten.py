from __future__ import annotations

from torch import nn

from .shared import BatchFirst


class BatchFirstIsForgotten(BatchFirst):
    level = "error"
    change = "Pass batch_first=True, or transpose the input"
    kinds = (nn.RNNBase,)
