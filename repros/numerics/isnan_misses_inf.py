# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An isnan() check on the loss lets an infinite loss write NaN into the weights"
# kind = "silent"
# symptom = "all checks passed, the weight is nan"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/46849"]
# documents = ["https://pytorch.org/docs/stable/generated/torch.isnan.html"]
# wrong = '''
# TODO
# '''
# fix = "numerics.clip_or_skip"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""isnan(inf) is False, and inf becomes NaN one operation later: in the gradient, in
clipping, in the optimizer.

Ask isfinite() of the gradient norm, before the step.
"""

import torch


def train(device, check, feature=float("inf")):
    x = torch.tensor([feature, 1.0], device=device)
    weight = torch.ones(2, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    loss = (weight * x).sum()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_([weight], 1.0)
    if not check(x, loss, norm):
        return None  # the step is skipped, as it should be
    optimizer.step()
    if weight.isnan().any():
        return "all checks passed, the weight is nan"


def reproduce(device):
    return train(device, lambda x, loss, norm: not (x.isnan().any() or loss.isnan()))


def control(device):
    return train(device, lambda x, loss, norm: norm.isfinite())


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
