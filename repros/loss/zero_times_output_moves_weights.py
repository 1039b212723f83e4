# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss of 0 * output trains nothing, yet the weights move"
# kind = "silent"
# symptom = "every gradient is zero and the weights moved"
# keywords = ["weights change but the model does not learn"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/92656", "https://github.com/pytorch/pytorch/issues/92731"]
# wrong = '''
# TODO
# '''
# fix = "loss.check_gradients"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Gradients that exist and are all zero still drive weight decay and momentum, so "the
weights changed" proves nothing.

AdamW multiplies the weights by (1 - lr * weight_decay) each step; where grad is None it
skips the parameter instead.
"""

import torch


def train(device, factor):
    weight = torch.ones(3, device=device, requires_grad=True)
    optimizer = torch.optim.AdamW([weight], lr=0.1)
    (factor * weight.sum()).backward()
    optimizer.step()
    if not weight.grad.any() and (weight != 1).any():
        return (
            f"every gradient is zero and the weights moved by {(1 - weight).abs().max().item():.1g}"
        )


def reproduce(device):
    return train(device, factor=0.0)


def control(device):
    return train(device, factor=1.0)


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
