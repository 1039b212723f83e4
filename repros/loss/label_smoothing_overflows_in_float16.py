# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cross_entropy with label_smoothing is inf for float16 logits of a large vocabulary"
# kind = "silent"
# symptom = "the loss is inf, not 10.37"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/LossNLL.cpp",
#     "https://github.com/huggingface/transformers/issues/10674",
# ]
# upstream = "unreported"
# wrong = '''
# loss = torch.nn.functional.cross_entropy(logits, target, label_smoothing=0.1)
# '''
# right = '''
# loss = torch.nn.functional.cross_entropy(logits.float(), target, label_smoothing=0.1)
# '''
# requires = ">=2.4"
# affected = { cpu = ">=2.4" }
# ///
"""The loss of a single row is inf, although none of its logits or probabilities is unusual.

The function cross_entropy_loss_label_smoothing sums the log-probabilities of all classes (for the
mean, also over all rows) before it divides by their number (aten/src/ATen/native/LossNLL.cpp). For
32000 classes, the sum is -32000 * log(32000), far beyond float16's limit of 65504. For ten classes,
4096 rows are enough to exceed this limit. The label smoother of transformers had the same bug
(huggingface/transformers#10674). All devices share this code, but it was tested only on the CPU.
"""

import math

import torch


def half(logits, target):
    loss = torch.nn.functional.cross_entropy(logits, target, label_smoothing=0.1)
    return loss


def single(logits, target):
    loss = torch.nn.functional.cross_entropy(logits.float(), target, label_smoothing=0.1)
    return loss


def check(device, loss_of):
    logits = torch.zeros(1, 32000, dtype=torch.float16, device=device)
    target = torch.zeros(1, dtype=torch.long, device=device)
    loss = loss_of(logits, target)
    if not math.isclose(loss.item(), math.log(32000), rel_tol=0.01):
        return f"the loss is {loss.item()}, not 10.37"


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
