# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "GradScaler on MPS fails in unscale_() on torch before 2.8"
# kind = "error"
# symptom = "Cannot convert a MPS Tensor to float64"
# elsewhere = ["Cannot convert a MPS Tensor to float64 dtype"]
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/142397",
#     "https://discuss.pytorch.org/t/gradscaler-typeerror-cannot-convert-a-mps-tensor-to-float64-dtype-as-the-mps-framework-doesnt-support-float64-please-use-float32-instead/213206",
# ]
# documents = ["https://github.com/pytorch/pytorch/pull/150255"]
# fixed_by = "pytorch#150255"
# wrong = '''
# scaler.unscale_(optimizer)
# '''
# fix = "amp.choose_precision"
# use = '''
# from amp import choose_precision, make_grad_scaler
# precision = choose_precision("mps")  # float32: take precision.autocast() for the forward too
# scaler = make_grad_scaler(precision)  # one that is off
# scaler.unscale_(optimizer)
# '''
# requires = ">=2.3"
# affected = { mps = "<2.8" }
# ///
"""On a Mac, unscale_() raises an error. The error also occurs in step(), because step() calls
unscale_() (pytorch#142397).

Before torch 2.8, unscale_() computes the reciprocal of the scale in float64, which MPS does not
support. From 2.8 on, unscale_() uses float32 on MPS (torch/amp/grad_scaler.py, pytorch#150255; not
measured). If you disable the scaler but keep the forward pass in float16, small gradients are lost.
"""

import torch


def train(device, enabled):
    scaler = torch.amp.GradScaler(device, enabled=enabled)
    weight = torch.ones(2, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler.scale(weight.sum()).backward()
    try:
        scaler.unscale_(optimizer)
    except TypeError as error:
        return str(error)


def reproduce(device):
    return train(device, enabled=True)


def control(device):
    return train(device, enabled=False)


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
