# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "detect_anomaly() does not notice an infinite gradient"
# kind = "silent"
# symptom = "detect_anomaly was silent about a gradient of inf"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/46849"]
# documents = ["https://pytorch.org/docs/stable/autograd.html#anomaly-detection"]
# wrong = '''
# TODO
# '''
# fix = "numerics.find_nonfinite"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Anomaly mode looks for NaN alone (torch/csrc/autograd/engine.cpp), and one operation
later the inf is a NaN in the weights.

It also makes the backward several times slower, so it is no guard to leave on.
"""

import warnings

import torch


def gradient(device, value):
    x = torch.tensor(value, device=device, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            x.sqrt().backward()
    if x.grad.isinf():
        return f"detect_anomaly was silent about a gradient of {x.grad.item()}"


def reproduce(device):
    return gradient(device, 0.0)


def control(device):
    return gradient(device, 1.0)


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
