# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "log_softmax of 65520 or more equal float16 logits is -inf on the CPU"
# kind = "silent"
# symptom = "log_softmax is -inf, not -11.16"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/cpu/SoftMaxKernel.cpp",
#     "https://github.com/pytorch/pytorch/issues/91597",
# ]
# upstream = "unreported"
# wrong = '''
# logs = torch.nn.functional.log_softmax(logits, dim=1)  # logits in float16
# '''
# right = '''
# logs = torch.nn.functional.log_softmax(logits.float(), dim=1)
# '''
# requires = ">=2.2"
# affected = { cpu = ">=2.2" }
# ///
"""If the logits of a large vocabulary are equal, for example because the head was initialized to
zero, the log-probabilities are all -inf.

Over the last dimension, the kernel subtracts the largest logit and keeps the sum of the
exponentials in the input's dtype (`tmp_sum_scalar` of _vec_log_softmax_lastdim in
aten/src/ATen/native/cpu/SoftMaxKernel.cpp). A sum of 70000 ones exceeds 65504, the largest float16
number (sums up to 65519 are rounded to this number). The logarithm of the sum, 11.16, would fit. If
the logits differ, the sum is smaller: 80000 normally distributed logits fail with a standard
deviation of 0.02, but not with 0.1. The functions cross_entropy and logsumexp fail too, but softmax
works, and so does log_softmax over another dimension. The mean of float16 values overflowed in the
same way (pytorch#91597).
"""

import torch


def half(logits):
    logs = torch.nn.functional.log_softmax(logits, dim=1)  # logits in float16
    return logs


def single(logits):
    logs = torch.nn.functional.log_softmax(logits.float(), dim=1)
    return logs


def check(device, logs_of):
    logs = logs_of(torch.zeros(1, 70000, dtype=torch.float16, device=device))
    if logs.isinf().all():
        return f"log_softmax is {logs[0, 0].item()}, not -11.16"
    if (logs + 11.16).abs().max() > 0.01:
        return f"log_softmax is {logs[0, 0].item()}"


def reproduce(device):
    return check(device, half)


def control(device):
    return check(device, single)


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
