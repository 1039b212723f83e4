# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Under CPU autocast, LayerNorm of many bfloat16 rows loses most of its weight and bias gradients"
# kind = "silent"
# symptom = "bias.grad is \\d+, not 262144"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/cpu/layer_norm_kernel.cpp",
#     "https://github.com/pytorch/pytorch/issues/68048",
# ]
# upstream = "unreported"
# wrong = '''
# y = norm(hidden)  # under autocast: hidden is bfloat16
# '''
# right = '''
# y = norm(hidden.float()).to(hidden.dtype)
# '''
# requires = ">=2.0"
# affected = { cpu = ">=2.0" }
# ///
"""The gradients of the float32 bias and weight are 256 per thread, although the sum over the rows
is 262144.

The backward pass sums the rows in a buffer of the input's dtype, with one buffer per thread
(`buffer` in aten/src/ATen/native/cpu/layer_norm_kernel.cpp). In bfloat16 a sum of ones stops at
256, because 256 + 1 is rounded to 256. In float16 it stops at 2048. Keeping the parameters in
float32 does not help. Up to 256 gradients of 1 are summed correctly, but 200 gradients of 0.3 give
53 instead of 60 in one thread. For 65536 rows with gradients of both signs, the sum is usually off
by a tenth to a half. If the input is float32 under autocast, as a residual stream is, the gradients
are right. A bfloat16 LayerNorm has the same error, and rejects the float32 input of the corrected
line, so call norm.float() after model.bfloat16(). GroupNorm and BatchNorm1d sum correctly.

The bias of Conv2d had the same bug (pytorch#68048).
"""

import torch

ROWS = 262144


def train(device, normalize):
    norm = torch.nn.LayerNorm(2, device=device)
    x = torch.tensor([[0.0, 1.0]], device=device).expand(ROWS, 2)
    with torch.autocast(device, dtype=torch.bfloat16):
        hidden = x @ torch.eye(2, device=device)
        y = normalize(norm, hidden)
    y.sum().backward()
    for name, parameter in (("bias", norm.bias), ("weight", norm.weight)):
        seen = parameter.grad[1].item()  # of the ones, which are normalized to 1
        if not abs(seen - ROWS) < 100:
            return f"{name}.grad is {seen:.0f}, not {ROWS}"
    if y.dtype != torch.bfloat16:
        return f"the output is {y.dtype}"


def as_it_is(norm, hidden):
    y = norm(hidden)  # under autocast: hidden is bfloat16
    return y


def in_float32(norm, hidden):
    y = norm(hidden.float()).to(hidden.dtype)
    return y


def reproduce(device):
    return train(device, as_it_is)


def control(device):
    return train(device, in_float32)


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
