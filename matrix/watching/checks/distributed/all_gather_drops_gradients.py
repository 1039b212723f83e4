from __future__ import annotations

import torch

from ...check import Check


class AllGatherDropsGradients(Check):
    level = "note"
    change = "Use torch.distributed.nn.functional.all_gather() if a loss needs the gathered tensors"

    def gathered(self, tensor: torch.Tensor, grad: bool) -> str | None:
        if grad and tensor.grad_fn is not None and tensor.numel() > 1:
            shape = tuple(tensor.shape)
            return f"all_gather() sends a tensor of shape {shape} without its graph"
        return None
