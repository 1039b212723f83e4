# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Fused SGD on the CPU leaves most of a bfloat16 or float16 parameter as it was"
# kind = "silent"
# symptom = "weights of 64 did not move"
# sources = ["https://github.com/pytorch/pytorch/issues/191763", "https://github.com/pytorch/pytorch/pull/192545"]
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

    sys.exit(reproduce(sys.argv[1] if sys.argv[1:] else "cpu"))
