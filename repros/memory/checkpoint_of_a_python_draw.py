# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Checkpointing a block whose path depends on Python's random raises in backward()"
# kind = "error"
# symptom = "A different number of tensors was saved during the original forward and recomputation|Attempt to retrieve a tensor saved by autograd multiple times|ran in the forward and has no gradient"
# messages = [
#     "A different number of tensors was saved during the original forward and recomputation",
#     "Attempt to retrieve a tensor saved by autograd multiple times without checkpoint recomputation",
# ]
# keywords = [
#     "CheckpointError in backward",
#     "gradient checkpointing with stochastic depth",
#     "layer drop and gradient checkpointing",
#     "recomputation differs from the forward",
#     "gradient checkpointing fails at random steps",
#     "random layer skipping together with gradient checkpointing",
#     "backward crashes sometimes with activation checkpointing",
#     "if random.random() in the forward and checkpointing",
# ]
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/checkpoint.html",
#     "https://github.com/2U1/Phi3-Vision-Finetune/issues/32",
# ]
# wrong = '''
# def block(x): return layer(x).tanh() if random.random() < 0.5 else x
# '''
# right = '''
# def block(x): return layer(x).tanh() if torch.rand(()) < 0.5 else x
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""backward() fails: it runs the block once more, which takes the other path.

checkpoint() restores the state of torch's generators for the second run and knows of no other
(torch/utils/checkpoint.py), such as Python's random, NumPy's, a counter, or a flag
that was changed in between.

use_reentrant=True, the usual advice for errors of the recomputation
(2U1/Phi3-Vision-Finetune#32), compares nothing: it trains the path of the second run, silently.
"""

import random

import torch
from torch.utils.checkpoint import checkpoint


def train(device, draw, use_reentrant=False):
    layer = torch.nn.Linear(2, 2).to(device)
    paths = []

    def block(x):
        paths.append(draw() < 0.5)
        return layer(x).tanh() if paths[-1] else x * 2

    x = torch.ones(1, 2, device=device, requires_grad=True)
    try:
        checkpoint(block, x, use_reentrant=use_reentrant).sum().backward()
    except RuntimeError as error:
        return str(error).partition("\n")[0]
    if paths[0] and layer.weight.grad is None:
        return "the layer ran in the forward and has no gradient"


def reproduce(device):
    return train(device, random.Random(1).random)  # draws 0.13, then 0.85


def control(device):
    return train(device, lambda: torch.rand(()))


def popular_fix(device):
    return train(device, random.Random(1).random, use_reentrant=True)


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
