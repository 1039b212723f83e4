# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "trunc_normal_() sets one in 256 bfloat16 weights to a lower bound far from the mean"
# kind = "silent"
# symptom = "weights are -2.0, 100 standard deviations from the mean"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/145498",
#     "https://github.com/pytorch/torchtitan/issues/2269",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/174997",
#     "https://github.com/pytorch/pytorch/pull/175046",
# ]
# fixed_by = "pytorch#174997"
# wrong = '''
# weight = torch.empty(10_000, dtype=torch.bfloat16)
# torch.nn.init.trunc_normal_(weight, std=0.02)
# '''
# right = '''
# weight = torch.empty(10_000, dtype=torch.float64)
# weight = torch.nn.init.trunc_normal_(weight, std=0.02).to(torch.bfloat16)
# '''
# fix = "randomness.trunc_normal_"
# use = '''
# from randomness import trunc_normal_
# weight = torch.empty(10_000, dtype=torch.bfloat16)
# trunc_normal_(weight, std=0.02)
# '''
# choice = "Use the lines without the fix for your own tensor; use the fix to fill the parameters of a model in place"
# affected = { cpu = "<2.12" }
# ///
"""A model initialized in bfloat16 starts with some weights at -2, while the others have a standard
deviation of 0.02.

The function trunc_normal_() draws uniform numbers from [-1, 1) in the dtype of the weights and
passes them to erfinv_() (torch/nn/init.py). In bfloat16, about 0.4 % of the numbers are at the end
of the range, where erfinv is infinite. The results are clamped to the bound `a`, which is -2 by
default (pytorch#175046). In float32 this is rare (pytorch#174997), one in 2**24, but it happens in
a large model, so the corrected code draws in float64 (control). In float16 one weight in 2048 is
affected. For wider weights, rounding decides whether they hit the bound. In bfloat16, they hit the
bound just as often with std=0.6 or 0.8, and with bounds of 2.5 standard deviations. They never hit
it with std=1, or with bounds of two or three standard deviations. In float16, they hit it with
std=1 too. These numbers are for the CPU; CUDA was not measured.
"""

import torch


def in_bfloat16():
    weight = torch.empty(10_000, dtype=torch.bfloat16)
    torch.nn.init.trunc_normal_(weight, std=0.02)
    return weight


def rounded():
    weight = torch.empty(10_000, dtype=torch.float64)
    weight = torch.nn.init.trunc_normal_(weight, std=0.02).to(torch.bfloat16)
    return weight


def check(draw):
    weight = draw()
    count = int((weight < -1).sum())
    if count > 5:
        return f"{count} of 10000 weights are -2.0, 100 standard deviations from the mean"
    spread = weight[weight > -1].float().std().item()
    if weight.dtype != torch.bfloat16 or not 0.018 < spread < 0.022:
        return f"the standard deviation is {spread}, in {weight.dtype}"


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
