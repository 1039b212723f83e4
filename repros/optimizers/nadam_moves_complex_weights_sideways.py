# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "NAdam moves a complex parameter along the wrong axis"
# kind = "silent"
# symptom = "the gradient is imaginary, the step is real"
# keywords = [
#     "complex parameters do not converge",
#     "complex neural network optimizer",
#     "complex weights do not learn with NAdam",
#     "loss constant with complex parameters and NAdam",
#     "imaginary part is never updated",
#     "complex valued network stuck with NAdam or RAdam",
#     "Adam learns complex parameters, NAdam does not",
#     "real part changes although only imaginary should",
#     "optimizer steps complex number in the wrong direction",
#     "phase of complex parameter not optimized",
#     "signal processing model with complex weights no progress",
#     "complex network loss flat although gradients are non-zero",
# ]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/110606"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/110634",
#     "https://github.com/pytorch/pytorch/blob/v2.1.2/torch/optim/nadam.py",
#     "https://github.com/pytorch/pytorch/issues/65711",
#     "https://docs.pytorch.org/docs/stable/complex_numbers.html",
# ]
# fixed_by = "pytorch#110634"
# wrong = '''
# weight = torch.zeros(1, dtype=torch.complex64, device=device, requires_grad=True)
# optimizer = torch.optim.NAdam([weight])
# '''
# right = '''
# parts = torch.zeros(1, 2, device=device, requires_grad=True)
# optimizer = torch.optim.NAdam([parts])
# weight = torch.view_as_complex(parts)
# '''
# fix = "upgrade"
# affected = { cpu = "<2.2", cuda = "<2.2" }
# ///
"""The loss depends on the imaginary part, and the optimizer changes the real one.

Optimizers are to take a complex number for two real ones (pytorch#65711,
docs: complex_numbers). NAdam squared the gradient as it was (torch/optim/nadam.py of
2.1): the square of an imaginary number is negative, its root imaginary, and the
gradient divided by it real. Adadelta with foreach did the same, and so did RAdam from
its sixth step on, where it begins to divide (pytorch#110606).
"""

import torch


def check(weight, optimizer):
    for _ in range(3):
        optimizer.zero_grad()
        weight.imag.sum().backward()
        optimizer.step()
    real, imaginary = abs(weight.real.item()), -weight.imag.item()
    if real > 1e-4 and abs(imaginary) < 1e-6:
        return "the gradient is imaginary, the step is real"
    if real > 1e-6 or not 1e-3 < imaginary < 1e-2:  # steps of about 0.002 each
        return f"the weight is {weight.item()} after three steps"


def reproduce(device):
    weight = torch.zeros(1, dtype=torch.complex64, device=device, requires_grad=True)
    optimizer = torch.optim.NAdam([weight])
    return check(weight, optimizer)


def control(device):
    parts = torch.zeros(1, 2, device=device, requires_grad=True)
    optimizer = torch.optim.NAdam([parts])
    weight = torch.view_as_complex(parts)
    return check(weight, optimizer)


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
