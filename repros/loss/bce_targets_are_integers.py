# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "binary_cross_entropy_with_logits fails on the CPU for integer targets"
# kind = "error"
# symptom = "result type Float can't be cast to the desired output type"
# messages = [
#     "result type Float can.t be cast to the desired output type (?:Long|Int|Byte)",
#     "Found dtype (?:Long|Int|Bool|Byte) but expected \\w{4,8}",
# ]
# elsewhere = [
#     "result type (?:BFloat16|Half|Double) can.t be cast to the desired output type (?:Long|Int|Byte)",
#     "result type Float can.t be cast to the desired output type (?:Char|Short)",
# ]
# origin = "design"
# reports = [
#     "https://github.com/ando-khachatryan/HiDDeN/issues/28",
#     "https://github.com/skorch-dev/skorch/issues/813",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html",
#     "https://github.com/pytorch/pytorch/issues/3608",
# ]
# wrong = '''
# loss = binary_cross_entropy_with_logits(logits, target)
# '''
# right = '''
# assert not ((target < 0) | (target > 1)).any(), "want 0 and 1: divide 0 and 255 by 255"
# loss = binary_cross_entropy_with_logits(logits, target.to(logits.dtype))
# '''
# affected = { cpu = ">=1.13" }
# ///
"""A binary target is a probability, not a label, so it has to be a float (pytorch#3608), whereas
cross_entropy expects int64. For integer targets, binary_cross_entropy raises "Found dtype Long but
expected Float". For a bool target, binary_cross_entropy_with_logits raises "Subtraction, the `-`
operator".

The function binary_cross_entropy_with_logits accepts any float target. For a mask of 0 and 255, the
loss is far below 0 and falls without limit. The same happens for labels of -1 and 1: use (target +
1) / 2.
"""

import math

import torch
from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits


def start(device, dtype=torch.int64):
    return torch.zeros(3, device=device), torch.tensor([0, 1, 1], device=device).to(dtype)


def raised(loss_of, output, target):
    try:
        loss_of(output, target)
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return raised(binary_cross_entropy_with_logits, *start(device))


def control(device):
    logits, target = start(device)
    assert not ((target < 0) | (target > 1)).any(), "want 0 and 1: divide 0 and 255 by 255"
    loss = binary_cross_entropy_with_logits(logits, target.to(logits.dtype))
    if abs(loss.item() - math.log(2)) > 1e-4:
        return f"the loss is {loss.item()}"
    grey = binary_cross_entropy_with_logits(3 + logits, 255 * target.to(logits.dtype))
    if grey > -100:
        return f"the loss of a mask of 0 and 255 is {grey.item()}"
    signs = binary_cross_entropy_with_logits(18 * target - 9.0, 2 * target.to(logits.dtype) - 1)
    if signs > -2:
        return f"the loss of labels of -1 and 1 is {signs.item()}"


def messages(device):
    texts = []
    for dtype in (torch.int64, torch.int32, torch.bool, torch.uint8):
        logits, target = start(device, dtype)
        texts.append(raised(binary_cross_entropy_with_logits, logits, target))
        texts.append(raised(binary_cross_entropy, logits.sigmoid(), target))
    return "\n".join(map(str, texts))


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
