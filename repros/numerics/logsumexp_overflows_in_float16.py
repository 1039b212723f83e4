# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "logsumexp of 65520 or more equal float16 logits is inf, and its gradient is zero"
# kind = "silent"
# symptom = "logsumexp is inf, and the gradients sum to 0"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/ReduceOps.cpp",
#     "https://github.com/pytorch/pytorch/issues/91597",
# ]
# upstream = "unreported"
# wrong = '''
# z = x.logsumexp(-1)
# '''
# right = '''
# z = x.float().logsumexp(-1).to(x.dtype)
# '''
# requires = ">=2.1"
# affected = { cpu = ">=2.1" }
# ///
"""The logsumexp over a language model's vocabulary is inf if the logits are nearly equal.

The implementation, logsumexp_out_impl, subtracts the maximum and sums the exponentials into the
result (aten/src/ATen/native/ReduceOps.cpp), whose dtype is float16. In float16, a sum of 65519 ones
is rounded to the largest number, 65504, and a sum of 65520 ones to inf. The logarithm, 11.2, would
fit. The gradient is zero, so a penalty on the logsumexp, such as a z-loss, trains nothing. The mean
of float16 values overflowed in the same way (pytorch#91597). CUDA was not measured. bfloat16 has
the range of float32.

For these logits, log_softmax() returns -inf and the cross entropy is inf, so pass x.float() there
too. On 2.3, the cross entropy raises an error for float16 instead. For a z-loss, compute the square
in float32, because even with few logits the square of 256 overflows. Also scale the loss, because a
small gradient spread over 70000 logits is rounded to 0 in float16.
"""

import torch


def naive(x):
    z = x.logsumexp(-1)
    return z


def wide(x):
    z = x.float().logsumexp(-1).to(x.dtype)
    return z


def check(device, function):
    x = torch.zeros(1, 70000, dtype=torch.float16, device=device, requires_grad=True)
    z = function(x)
    z.sum().backward()
    total = x.grad.float().sum().item()
    if z.isinf().any():
        return f"logsumexp is {z.item()}, and the gradients sum to {total:.0f}"
    if abs(z.item() - 11.156) > 0.01 or abs(total - 1) > 0.01:  # log(70000)
        return f"logsumexp is {z.item()}, and the gradients sum to {total:g}"


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
