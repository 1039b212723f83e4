# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A fused optimizer on the CPU steps by a transposed gradient when that is laid out unlike its parameter"
# kind = "silent"
# symptom = "stepped by the transposed gradient"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/106951"]
# wrong = '''
# TODO
# '''
# fix = "numerics.clip_or_skip"
# requires = ">=2.4"
# affected = { cpu = ">=2.4", cuda = "never" }
# ///
"""The kernels (aten/src/ATen/native/cpu/FusedSGDKernel.cpp and its like) walk over
parameter and gradient in memory order and never look at their strides. Adam, AdamW and
Adagrad do the same. On CUDA such a gradient is refused or handled. Autograd makes
gradients of the parameter's layout; those that are assigned, or come from a hook or
from the backward of an operator of one's own, may have another.
"""

import torch


def step(device, fused):
    weight = torch.nn.Parameter(torch.zeros(2, 2, device=device))
    weight.grad = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=device).t()
    try:
        torch.optim.SGD([weight], lr=1.0, fused=fused).step()
    except RuntimeError:  # refused: nothing silent about that
        return None
    if torch.equal(weight, -weight.grad.t()):
        return "stepped by the transposed gradient"


def reproduce(device):
    return step(device, fused=True)


def control(device):
    return step(device, fused=False)


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
