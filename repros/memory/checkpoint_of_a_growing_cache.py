# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Checkpointing an attention that appends to a cache raises: recomputed tensors have other shapes"
# kind = "error"
# symptom = "Recomputed values for the following tensors have different metadata|The size of tensor a \\(3\\) must match the size of tensor b \\(6\\)|the gradient of the keys is"
# messages = [
#     "Recomputed values for the following tensors have different metadata than during the forward pass",
#     "The size of tensor a \\(3\\) must match the size of tensor b \\(6\\) at non-singleton dimension 0",
# ]
# keywords = [
#     "gradient checkpointing with use_cache",
#     "CheckpointError different metadata",
#     "saved metadata and recomputed metadata differ",
#     "key value cache doubled in training",
#     "training a language model with gradient checkpointing and cache fails",
#     "backward fails when the decoder keeps past key values",
#     "sequence twice as long in the recomputation",
#     "gradient checkpointing breaks my transformer with kv cache",
# ]
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/155171"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/checkpoint.html",
#     "https://github.com/2U1/Phi3-Vision-Finetune/issues/32",
# ]
# wrong = '''
# def attend(x):
#     cache.append(x)
#     return torch.cat(cache).tanh().sum()
# '''
# right = '''
# def attend(x):
#     return torch.cat(cache + [x]).tanh().sum()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The second run of the block, in backward(), finds what the first has left in the cache and
appends once more: tensors have twice the length, as in pytorch#155171, and the check of their
shapes fails (torch/utils/checkpoint.py). Before 2.1 there was no check, and backward() itself
failed.

use_reentrant=True, the usual advice (2U1/Phi3-Vision-Finetune#32), compares nothing: no
error, and the gradient of another sum.
"""

import torch
from torch.utils.checkpoint import checkpoint


def train(device, keep, use_reentrant=False):
    x = torch.zeros(3, device=device, requires_grad=True)
    cache = []

    def attend(x):
        if keep:
            cache.append(x)
            return torch.cat(cache).tanh().sum()
        return torch.cat(cache + [x]).tanh().sum()

    try:
        checkpoint(attend, x, use_reentrant=use_reentrant).backward()
    except RuntimeError as error:
        return str(error)
    if x.grad[0].item() != 1.0:  # the derivative of tanh at 0
        return f"the gradient of the keys is {x.grad[0].item():g}, not 1"


def reproduce(device):
    return train(device, keep=True)


def control(device):
    return train(device, keep=False)


def popular_fix(device):
    return train(device, keep=True, use_reentrant=True)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
