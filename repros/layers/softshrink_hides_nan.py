# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "softshrink turns NaN into 0 on the CPU"
# kind = "silent"
# symptom = "softshrink of nan is 0\\.0"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/138385"]
# documents = ["https://github.com/pytorch/pytorch/pull/138421"]
# fixed_by = "pytorch#138421"
# wrong = '''
# y = F.softshrink(x)
# '''
# right = '''
# y = torch.where(x.isnan(), x, F.softshrink(x))
# '''
# fix = "upgrade"
# affected = { cpu = "<2.6" }
# ///
"""After a softshrink, a diverged model returns finite values again.

softshrink returned 0 for every value that is neither above lambda nor below -lambda, and NaN is
neither (softshrink_kernel() in aten/src/ATen/native/cpu/Activation.cpp, pytorch#138421).
"""

import torch
import torch.nn.functional as F


def start(device):
    return torch.tensor([float("nan"), 2.0, 0.1, -2.0], device=device)


def check(y):
    if not y[0].isnan():
        return f"softshrink of nan is {y[0].item()}"
    if y[1:].tolist() != [1.5, 0.0, -1.5]:  # nearer to 0 by 0.5
        return f"softshrink of 2, 0.1 and -2 is {y[1:].tolist()}"


def reproduce(device):
    x = start(device)
    y = F.softshrink(x)
    return check(y)


def control(device):
    x = start(device)
    y = torch.where(x.isnan(), x, F.softshrink(x))
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
