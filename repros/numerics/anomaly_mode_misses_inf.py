# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "detect_anomaly() does not report an infinite gradient"
# kind = "silent"
# symptom = "detect_anomaly was silent about a gradient of \\[inf, 0.25\\]"
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/160016"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.detect_anomaly",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/csrc/autograd/engine.cpp",
#     "https://github.com/pytorch/pytorch/pull/83481",
# ]
# wrong = '''
# with torch.autograd.detect_anomaly():  # meant to find every bad gradient
#     loss = criterion(model(x), y)
#     loss.backward()
# '''
# right = '''
# with torch.autograd.detect_anomaly():
#     loss = criterion(model(x), y)
#     loss.backward()
# for name, parameter in model.named_parameters():
#     if parameter.grad is not None and not parameter.grad.isfinite().all():
#         raise RuntimeError(f"the gradient of {name} is not finite")
# '''
# fix = "numerics.find_nonfinite"
# use = '''
# from numerics import find_nonfinite
# with torch.autograd.detect_anomaly():
#     loss = criterion(model(x), y)
#     loss.backward()
# problem = find_nonfinite(model, x)
# if problem is not None:
#     raise RuntimeError(problem)
# '''
# choice = "Normally, use the lines without the fix; use the fix if gradients are sparse, or to find the input or module that produced the inf"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Under detect_anomaly(), the backward pass accepts a gradient that is inf, but raises an error if
a gradient is NaN (control).

Anomaly mode checks only for NaN (torch/csrc/autograd/engine.cpp), and only in the values that each
operation returns. It therefore also misses a NaN that arises when inf and -inf accumulate in .grad.
Users have asked for a check for inf (pytorch#83481, pytorch#160016). With a GradScaler, an inf in
the first steps is normal (docs: torch.amp): call unscale_() before the check, and skip the step
instead of raising an error. The check reads one value per parameter from the device.
"""

import torch


class Root(torch.nn.Module):
    def __init__(self, device, first):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([first, 4.0], device=device))

    def forward(self, x):
        return x * self.weight.sqrt()


def criterion(output, y):
    return (output - y).sum()


def anomaly_mode(model, x, y):
    with torch.autograd.detect_anomaly():  # meant to find every bad gradient
        loss = criterion(model(x), y)
        loss.backward()


def and_a_check(model, x, y):
    with torch.autograd.detect_anomaly():
        loss = criterion(model(x), y)
        loss.backward()
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and not parameter.grad.isfinite().all():
            raise RuntimeError(f"the gradient of {name} is not finite")


def error_of(device, backward, first, x):
    model, x = Root(device, first), torch.tensor(x, device=device)
    try:
        backward(model, x, torch.zeros(2, device=device))
    except RuntimeError as error:
        return str(error), model.weight.grad
    return None, model.weight.grad.tolist()


def reproduce(device):
    error, gradient = error_of(device, anomaly_mode, first=0.0, x=[1.0, 1.0])  # 1 / (2 * 0)
    if error is None:
        return f"detect_anomaly was silent about a gradient of {gradient}"


def control(device):
    error, _ = error_of(device, anomaly_mode, first=0.0, x=[0.0, 1.0])  # 0 / (2 * 0)
    if error is None or "returned nan values" not in error:
        return f"anomaly mode said {error!r} about a NaN"


def right(device):
    error, _ = error_of(device, and_a_check, first=0.0, x=[1.0, 1.0])
    if error != "the gradient of weight is not finite":
        return f"the check said {error!r} about a gradient of inf"
    error, gradient = error_of(device, and_a_check, first=1.0, x=[1.0, 1.0])
    if error is not None or gradient != [0.5, 0.25]:
        return f"{error!r} for the finite gradient {gradient}"


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
