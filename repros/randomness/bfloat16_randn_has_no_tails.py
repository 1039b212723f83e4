# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "randn() for 16 or more bfloat16 numbers on the CPU never exceeds 3.4 standard deviations"
# kind = "silent"
# symptom = "the largest of 100000 normal numbers is 3\\.\\d"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/166853"]
# documents = ["https://github.com/pytorch/pytorch/pull/175988"]
# fixed_by = "pytorch#175988"
# wrong = '''
# noise = torch.randn(100_000, dtype=torch.bfloat16)
# '''
# right = '''
# noise = torch.randn(100_000, dtype=torch.float32).to(torch.bfloat16)
# '''
# fix = "randomness.normal_"
# use = '''
# from randomness import normal_
# noise = normal_(torch.empty(100_000, dtype=torch.bfloat16))
# '''
# choice = "Normally, use the line without the fix; use the fix to fill an existing tensor, such as a parameter"
# affected = { cpu = "<2.12" }
# ///
"""Noise in bfloat16 has no tails, although the absolute value of about 47 in 100,000 normal numbers
should exceed 3.5.

For 16 or more numbers, the CPU kernel drew uniform numbers in the dtype of the result and
transformed them in this dtype. Now the kernel does both in float32 (normal_fill() in
aten/src/ATen/native/cpu/DistributionTemplates.h, pytorch#166853, pytorch#175988). The smallest
uniform number in bfloat16 was 1/256, and sqrt(-2 log(1/256)) is 3.33. The mean and the standard
deviation still look right (pytorch#166853).

The same bug affects randn_like(), normal_(), torch.normal() and nn.init.normal_(). It does not
affect fewer than 16 numbers or a tensor that is not contiguous. In float16 the numbers never
exceeded 3.91.
"""

import torch


def in_bfloat16():
    noise = torch.randn(100_000, dtype=torch.bfloat16)
    return noise


def rounded():
    noise = torch.randn(100_000, dtype=torch.float32).to(torch.bfloat16)
    return noise


def check(draw):
    noise = draw()
    if noise.dtype != torch.bfloat16:
        return f"the noise is {noise.dtype}"
    top, spread = noise.abs().max().item(), noise.float().std().item()
    if not 0.98 < spread < 1.02:
        return f"the standard deviation is {spread:.2f}"
    if top < 3.5:
        return f"the largest of 100000 normal numbers is {top:.1f}"


def reproduce(device):
    return check(in_bfloat16)


def control(device):
    return check(rounded)


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
