# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "GroupNorm of a float32 channels_last input is wrong on the CPU if its mean is 1000 times its deviation"
# kind = "silent"
# symptom = "channels_last output is off by [\\d.]+"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/cpu/group_norm_kernel.cpp",
#     "https://github.com/pytorch/pytorch/issues/54293",
#     "https://github.com/pytorch/pytorch/pull/54921",
#     "https://github.com/pytorch/pytorch/pull/69067",
# ]
# upstream = "unreported"
# wrong = '''
# y = norm(x)  # x is channels_last
# '''
# right = '''
# y = norm(x.contiguous()).contiguous(memory_format=torch.channels_last)
# '''
# affected = { cpu = ">=1.13" }
# ///
"""If a channels_last input has a mean of 1000 to 20000 and a standard deviation of 1, the results
of GroupNorm are wrong in their first digit. They are up to hundreds of times too large. The
gradients of the input and the weight are wrong as well. The error grows with the size of a group:
with a mean of 100, the results are off by 0.002 for 64 values and by 0.2 for 262144. With a mean of
10, they are off by less than 0.001. In float64, they are right. The same error occurs with
channels_last_3d, so for 5-D inputs, use that format in the corrected line.

The kernel for channels_last inputs computes the variance as E[x^2] - E[x]^2 in float32, where the
digits of a small variance cancel. If no digits are left, the kernel divides by sqrt(eps)
(aten/src/ATen/native/cpu/group_norm_kernel.cpp, pytorch#69067). Contiguous inputs had the same bug
(pytorch#54293) until Welford's algorithm fixed it (pytorch#54921).
"""

import torch


def start(device):
    plus_minus_one = torch.arange(256, device=device).remainder(2) * 2 - 1.0
    means = torch.linspace(1000, 20000, 16, device=device).round()
    x = (means[:, None, None, None] + plus_minus_one.view(16, 16)).repeat(1, 8, 1, 1)
    return torch.nn.GroupNorm(2, 8, device=device), x.contiguous(memory_format=torch.channels_last)


def check(y):
    error = (y.abs() - 1).abs().max().item()  # each value is one deviation from its mean
    if not error < 0.1:
        return f"channels_last output is off by {error:.1f}"
    if not y.is_contiguous(memory_format=torch.channels_last):
        return f"the output is not channels_last: strides {y.stride()}"


def reproduce(device):
    norm, x = start(device)
    y = norm(x)  # x is channels_last
    return check(y)


def control(device):
    norm, x = start(device)
    y = norm(x.contiguous()).contiguous(memory_format=torch.channels_last)
    return check(y)


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
