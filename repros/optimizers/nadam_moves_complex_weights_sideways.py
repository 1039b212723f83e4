# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "NAdam updates a complex parameter along the wrong axis"
# kind = "silent"
# symptom = "the gradient is imaginary, the step is real"
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
# class Scale(torch.nn.Module):
#     def __init__(self):
#         super().__init__()
#         self.weight = torch.nn.Parameter(torch.zeros(1, dtype=torch.complex64))
#
#     def forward(self, x):
#         return x * self.weight
#
# model = Scale().to(device)
# optimizer = torch.optim.NAdam(model.parameters())
# '''
# right = '''
# class Scale(torch.nn.Module):
#     def __init__(self):
#         super().__init__()
#         self.parts = torch.nn.Parameter(torch.zeros(1, 2))  # real and imaginary
#
#     def forward(self, x):
#         return x * torch.view_as_complex(self.parts)  # made anew, so that it follows .to()
#
# model = Scale().to(device)
# optimizer = torch.optim.NAdam(model.parameters())
# '''
# fix = "upgrade"
# affected = { cpu = "<2.2", cuda = "<2.2" }
# ///
"""The loss depends on the imaginary part, but the optimizer changes the real part.

Optimizers should treat a complex number as two real numbers (pytorch#65711, docs: complex_numbers).
NAdam squared the gradient directly (torch/optim/nadam.py of 2.1). The square of an imaginary number
is negative, so its square root is imaginary, and the gradient divided by that root is real. For a
gradient of 1 + 1j, the step was real as well. Adadelta with foreach had the same bug. RAdam had it
from its sixth step on, when it begins to divide (pytorch#110606).

Do not create the complex view only once, in __init__(): it would stay behind when the module is
moved, and copy.deepcopy() would reject it. The corrected code renames the parameter: to convert an
old weight to `parts`, call torch.view_as_real(). Calling bfloat16() on the module makes this code
fail, because torch has no complex bfloat16 numbers. Calling to(torch.complex64) also fails, because
parts has to be real.
"""

import torch


def check(device, model, optimizer):
    one = torch.ones(1, device=device)
    for _ in range(3):
        optimizer.zero_grad()
        model(one).imag.sum().backward()
        optimizer.step()
    weight = model(one).item()
    if abs(weight.real) > 1e-4 and abs(weight.imag) < 1e-6:
        return "the gradient is imaginary, the step is real"
    if abs(weight.real) > 1e-6 or not 1e-3 < -weight.imag < 1e-2:  # steps of about 0.002 each
        return f"the weight is {weight} after three steps"


def reproduce(device):
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(1, dtype=torch.complex64))

        def forward(self, x):
            return x * self.weight

    model = Scale().to(device)
    optimizer = torch.optim.NAdam(model.parameters())
    return check(device, model, optimizer)


def control(device):
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.Parameter(torch.zeros(1, 2))  # real and imaginary

        def forward(self, x):
            return x * torch.view_as_complex(self.parts)  # made anew, so that it follows .to()

    model = Scale().to(device)
    optimizer = torch.optim.NAdam(model.parameters())
    return check(device, model, optimizer)


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
