# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "binary_cross_entropy fails for predictions of shape [N, 1] and targets of shape [N]"
# kind = "error"
# symptom = "Target size .{1,30} must be the same as input size"
# messages = [
#     "Target size \\(.{4,80}?\\) must be the same as input size",
#     "Using a target size \\(.{4,70}?\\) that is different to the input size \\(.{4,70}?\\) is deprecated",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/25663",
#     "https://github.com/skorch-dev/skorch/issues/137",
#     "https://github.com/FernandoLpz/Text-Classification-LSTMs-PyTorch/issues/9",
#     "https://github.com/bentrevett/pytorch-sentiment-analysis/issues/41",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/1944",
#     "https://docs.pytorch.org/docs/stable/generated/torch.squeeze.html",
# ]
# wrong = '''
# loss = binary_cross_entropy_with_logits(logits, target)  # [2, 1] and [2]
# '''
# right = '''
# loss = binary_cross_entropy_with_logits(logits, target.unsqueeze(-1))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A linear layer with one output returns shape [N, 1], but the labels from a dataset have shape
[N]. Broadcasting would compare every pair, so torch raises an error (pytorch#1944). The message of
binary_cross_entropy is "Using a target size ... is deprecated" (torch/nn/functional.py). For masks
of shape [N, H, W] and logits of shape [N, 1, H, W], use unsqueeze(1). If the labels are integers,
another error follows: see loss/bce_targets_are_integers.

Calling logits.squeeze(), as in FernandoLpz/Text-Classification-LSTMs-PyTorch#9, drops every
dimension of size 1 (docs: torch.squeeze). If the last batch has only one sample, the batch
dimension is dropped too, and the loss raises an error (bentrevett/pytorch-sentiment-analysis#41).
"""

import math

import torch
from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits


def as_they_are(logits, target):
    loss = binary_cross_entropy_with_logits(logits, target)  # [2, 1] and [2]
    return loss


def in_a_column(logits, target):
    loss = binary_cross_entropy_with_logits(logits, target.unsqueeze(-1))
    return loss


def check(device, loss_of):
    try:
        for logits in torch.tensor([[3.0], [-3.0], [3.0]], device=device).split(
            2
        ):  # 2 rows, then 1
            loss = loss_of(logits, (logits[:, 0] > 0).float())
            if abs(loss.item() - math.log1p(math.exp(-3))) > 1e-4:
                return f"the loss is {loss.item()}"
    except ValueError as error:
        return str(error)


def reproduce(device):
    return check(device, as_they_are)


def control(device):
    return check(device, in_a_column)


def messages(device):
    return check(device, lambda logits, target: binary_cross_entropy(logits.sigmoid(), target))


def popular_fix(device):
    return check(device, lambda logits, target: as_they_are(logits.squeeze(), target))


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
