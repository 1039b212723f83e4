# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Activation checkpointing of the first block leaves that block untrained"
# kind = "silent"
# symptom = "checkpointed block has no gradient"
# messages = ["None of the inputs have requires_grad=True. Gradients will be None"]
# keywords = ["some layers do not learn", "gradient checkpointing layers not trained"]
# origin = "usage"
# reports = ["https://github.com/huggingface/transformers/issues/21381", "https://github.com/mlfoundations/open_clip/issues/573", "https://github.com/pytorch/pytorch/issues/7617"]
# wrong = '''
# TODO
# '''
# fix = "loss.check_gradients"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Reentrant checkpoint() looks at its inputs' requires_grad; a first block gets data,
which needs none, and is cut out of the graph.

The head behind it trains on, so only a warning tells ("None of the inputs have
requires_grad=True"). If everything is checkpointed, backward() raises "element 0 of
tensors does not require grad ...". use_reentrant=False has no such condition.
"""

import warnings

import torch
from torch.utils.checkpoint import checkpoint


def train(device, use_reentrant):
    block, head = torch.nn.Linear(3, 3).to(device), torch.nn.Linear(3, 1).to(device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the one hint there is
        hidden = checkpoint(block, torch.ones(2, 3, device=device), use_reentrant=use_reentrant)
    head(hidden).sum().backward()
    if block.weight.grad is None and head.weight.grad is not None:
        return "the checkpointed block has no gradient, the head has one"


def reproduce(device):
    return train(device, use_reentrant=True)


def control(device):
    return train(device, use_reentrant=False)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
