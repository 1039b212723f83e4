# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "RMSNorm of float16 activations of 256 or more returns zeros"
# kind = "silent"
# symptom = "the norm of a row of 300s is 0.0, not 1.0"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/pull/133085",
#     "https://github.com/pytorch/pytorch/pull/134106",
# ]
# fixed_by = "pytorch#134106"
# upstream = "unreported"
# wrong = '''
# y = torch.nn.functional.rms_norm(x, weight.shape, weight)
# '''
# right = '''
# y = torch.nn.functional.rms_norm(x.float(), weight.shape, weight.float()).to(x.dtype)
# '''
# fix = "upgrade"
# requires = ">=2.4"
# affected = { cpu = ">=2.4,<2.6", cuda = ">=2.4,<2.6" }
# ///
"""RMSNorm should scale each row to a mean square of 1. As soon as one activation reaches 256,
however, its row becomes 0.

On every device, rms_norm() computed the squares in the dtype of the input
(aten/src/ATen/native/layer_norm.cpp, pytorch#134106), but the square of 300 is above 65504, the
largest float16 number. Since 2.6, rms_norm() computes these squares in float32. CUDA was
not measured.
"""

import torch


def naive(x, weight):
    y = torch.nn.functional.rms_norm(x, weight.shape, weight)
    return y


def wide(x, weight):
    y = torch.nn.functional.rms_norm(x.float(), weight.shape, weight.float()).to(x.dtype)
    return y


def check(device, normalize):
    x = torch.full((1, 4), 300.0, dtype=torch.float16, device=device)
    weight = torch.ones(4, dtype=torch.float16, device=device)
    seen = normalize(x, weight).max().item()
    if not abs(seen - 1) < 0.1:
        return f"the norm of a row of 300s is {seen:.1f}, not 1.0"
    y = normalize(x * torch.arange(-1, 3, device=device) / 300, 2 * weight).double()
    expected = torch.arange(-1, 3, device=device).double() * 2 / 1.5**0.5  # of squares 1, 0, 1, 4
    if not torch.allclose(y, expected.expand(1, 4), atol=1e-2):
        return f"{y.tolist()} instead of {expected.tolist()}"


def reproduce(device):
    return check(device, naive)


def control(device):
    return check(device, wide)


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
