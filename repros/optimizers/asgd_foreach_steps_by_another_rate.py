# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ASGD with foreach, the default on CUDA, decays its step size by another formula"
# kind = "silent"
# symptom = "weight is -?\\d.*, not -?\\d"
# keywords = [
#     "ASGD different results on CPU and GPU",
#     "ASGD foreach",
#     "ASGD gives different weights on cuda and cpu",
#     "ASGD with foreach does not match foreach=False",
#     "averaged SGD results changed after upgrading torch",
#     "ASGD step size decays differently on the GPU",
#     "ASGD not reproducible between machines with and without GPU",
#     "ASGD learning slows down faster than documented",
#     "language model with ASGD has a worse perplexity on gpu",
#     "ASGD eta differs from the formula in the docs",
#     "different loss curves for ASGD after upgrade to 2.0",
#     "averaged stochastic gradient descent wrong learning rate decay",
# ]
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/asgd.py",
#     "https://github.com/pytorch/pytorch/pull/126375",
#     "https://github.com/pytorch/pytorch/pull/125440",
#     "https://github.com/pytorch/pytorch/pull/92724",
# ]
# fixed_by = "pytorch#126375"
# upstream = "unreported"
# wrong = '''
# optimizer = torch.optim.ASGD([weight], lr=0.5, lambd=1.0, foreach=True)
# '''
# right = '''
# optimizer = torch.optim.ASGD([weight], lr=0.5, lambd=1.0, foreach=False)
# '''
# fix = "upgrade"
# affected = { cpu = ">=2.0,<2.4", cuda = ">=2.0,<2.4" }
# ///
"""From the third step on the weights differ from those of foreach=False.

The step size is lr / (1 + lambd * lr * t) ** alpha (torch/optim/asgd.py). The foreach
implementation raised t alone to the power of alpha (pytorch#125440).
2.0 also made it the default on CUDA (pytorch#92724; not measured).
"""

import torch


def train(device, foreach):
    weight = torch.ones(1, device=device, requires_grad=True)
    optimizer = torch.optim.ASGD([weight], lr=0.5, lambd=1.0, alpha=0.75, foreach=foreach)
    expected, eta = 1.0, 0.5
    for step in (1, 2, 3):
        optimizer.zero_grad()
        weight.sum().backward()
        optimizer.step()
        expected -= eta * (expected + 1)
        eta = 0.5 / (1 + 0.5 * step) ** 0.75
    if abs(weight.item() - expected) > 1e-3:
        return f"weight is {weight.item():.4f}, not {expected:.4f}"


def reproduce(device):
    return train(device, foreach=True)


def control(device):
    return train(device, foreach=False)


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
