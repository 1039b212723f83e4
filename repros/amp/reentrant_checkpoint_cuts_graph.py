# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Reentrant activation checkpointing leaves a block untrained if its input needs no gradient"
# kind = "silent"
# symptom = "checkpointed block has no gradient"
# messages = ["None of the inputs have requires_grad=True\\. Gradients will be None"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/7617",
#     "https://github.com/mlfoundations/open_clip/issues/573",
#     "https://github.com/huggingface/transformers/issues/21381",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/checkpoint.html"]
# wrong = '''
# hidden = checkpoint(block, x, use_reentrant=True)
# '''
# right = '''
# hidden = checkpoint(block, x, use_reentrant=False)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The first block does not learn, and the only sign is a warning: "None of the inputs have
requires_grad=True. Gradients will be None" (mlfoundations/open_clip#573).

The reentrant variant gives its output a graph only if an input requires a gradient; the
non-reentrant variant has no such condition (docs: torch.utils.checkpoint). The input of the first
block is data, which requires no gradient. If all trainable layers are checkpointed this way, the
output does not require a gradient either (huggingface/transformers#21381).

The same warning also appears in correct code, for example during validation under no_grad(), or if
a block is frozen on purpose.

With either variant, backward() recomputes a block that gets gradients, so a BatchNorm in the block
updates its running statistics twice. With use_reentrant=False, a block that changes its input in
place, for example with a ReLU(inplace=True) at its start, raises an error in backward() on 2.3 and
2.15.
"""

import warnings

import torch
from torch.utils.checkpoint import checkpoint


def start(device):
    block, head = torch.nn.Linear(3, 3).to(device), torch.nn.Linear(3, 1).to(device)
    return block, head, torch.ones(2, 3, device=device)


def check(block, head, hidden, x):
    head(hidden).sum().backward()
    if block.weight.grad is None and head.weight.grad is not None:
        return "the checkpointed block has no gradient, the head has one"
    found, block.weight.grad = block.weight.grad, None
    head(block(x)).sum().backward()
    if not torch.allclose(found, block.weight.grad):
        return "the gradient differs from that without checkpointing"


def reproduce(device):
    block, head, x = start(device)
    hidden = checkpoint(block, x, use_reentrant=True)
    return check(block, head, hidden, x)


def control(device):
    block, head, x = start(device)
    hidden = checkpoint(block, x, use_reentrant=False)
    return check(block, head, hidden, x)


def messages(device):
    block, _, x = start(device)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checkpoint(block, x, use_reentrant=True)
    return "\n".join(str(warning.message) for warning in caught)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
