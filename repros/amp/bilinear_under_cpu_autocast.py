# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "nn.Bilinear after an nn.Linear fails under CPU autocast"
# kind = "error"
# symptom = "All tensors must have the same dtype"
# messages = ["All tensors must have the same dtype, got input1"]
# origin = "torch"
# documents = [
#     "https://docs.pytorch.org/docs/stable/amp.html",
#     "https://github.com/pytorch/pytorch/pull/95366",
#     "https://github.com/pytorch/pytorch/pull/118848",
# ]
# upstream = "unreported"
# wrong = '''
# with torch.autocast(device, torch.bfloat16):
#     output = bilinear(linear(x), linear(x))
# '''
# right = '''
# with torch.autocast(device, torch.bfloat16):
#     output = bilinear(linear(x).float(), linear(x).float())
# '''
# affected = { cpu = ">=2.3" }
# ///
"""Since torch 2.3, nn.Bilinear raises an error under CPU autocast if its inputs come from an
nn.Linear.

Under autocast, nn.Linear returns bfloat16, but nn.Bilinear's weight is float32. Since 2.3,
bilinear() rejects inputs of different dtypes (aten/src/ATen/native/Linear.cpp, pytorch#118848). On
CUDA, autocast promotes the inputs to the widest dtype, but the autocast list for the CPU does not
include bilinear (docs: torch.amp). That list did not include prelu either, until pytorch#95366
fixed the same error.

A module that was converted to bfloat16 raises the same error for float32 inputs, including
x.float(). For such a module, pass x.to(bilinear.weight.dtype) (aten/src/ATen/native/Linear.cpp).
"""

import torch


def start(device):
    linear, bilinear = torch.nn.Linear(4, 4).to(device), torch.nn.Bilinear(4, 4, 1).to(device)
    return linear, bilinear, torch.ones(2, 4, device=device)


def reproduce(device):
    linear, bilinear, x = start(device)
    try:
        with torch.autocast(device, torch.bfloat16):
            output = bilinear(linear(x), linear(x))
    except RuntimeError as error:
        if "All tensors must have the same dtype" not in str(error):
            raise
        return str(error)
    return check(output, bilinear(linear(x), linear(x)))


def control(device):
    linear, bilinear, x = start(device)
    with torch.autocast(device, torch.bfloat16):
        output = bilinear(linear(x).float(), linear(x).float())
    return check(output, bilinear(linear(x), linear(x)))


def check(output, expected):
    if (output - expected).abs().max() > 0.1:
        return "the output is off from float32"


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
