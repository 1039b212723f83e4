# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "GradScaler on MPS raises in unscale_ on torch before 2.8"
# kind = "error"
# symptom = "Cannot convert a MPS Tensor to float64"
# messages = ["Cannot convert a MPS Tensor to float64 dtype"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/142397", "https://github.com/pytorch/pytorch/issues/150255", "https://github.com/pytorch/pytorch/issues/144022"]
# wrong = '''
# TODO
# '''
# fix = "amp.choose_precision"
# requires = ">=2.3"
# affected = { mps = "<2.8" }
# ///
"""unscale_ computed the inverse scale in float64, which MPS does not have; torch 2.8
takes float32 there.

Read in torch/amp/grad_scaler.py of 2.7.1 and 2.8.0; not measured on an Apple machine
yet.
"""

import torch


def step(device, enabled):
    scaler = torch.amp.GradScaler(device, enabled=enabled)
    weight = torch.ones(2, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler.scale(weight.sum()).backward()
    try:
        scaler.unscale_(optimizer)
    except TypeError as error:
        return str(error)


def reproduce(device):
    return step(device, enabled=True)


def control(device):
    return step(device, enabled=False)


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
