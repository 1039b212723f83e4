# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Fused SGD on the CPU leaves most of a bfloat16 or float16 parameter as it was"
# kind = "silent"
# symptom = "weights of 64 did not move"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/191763"]
# documents = ["https://github.com/pytorch/pytorch/pull/192545"]
# wrong = '''
# TODO
# '''
# fix = "upgrade"
# requires = ">=2.4"
# affected = { cpu = "<2.14", cuda = "never" }
# ///
"""The vectorised part of the kernel (aten/src/ATen/native/cpu/FusedSGDKernel.cpp)
computes the new values and never stores them; only the remainder that fills no vector
is updated. float32 is right.
"""

import torch


def step(device, dtype):
    weight = torch.nn.Parameter(torch.zeros(64, dtype=dtype, device=device))
    weight.grad = torch.ones_like(weight)
    torch.optim.SGD([weight], lr=1.0, fused=True).step()
    stayed = int((weight == 0).sum())
    return f"{stayed} weights of 64 did not move" if stayed else None


def reproduce(device):
    return step(device, torch.bfloat16)


def control(device):
    return step(device, torch.float32)


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
