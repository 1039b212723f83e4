# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "kl_div with reduction 'mean' also divides the divergence by the number of classes"
# kind = "silent"
# symptom = "of the divergence"
# messages = ["reduction: .mean. divides the total loss by both the batch size and the support size"]
# origin = "design"
# reports = [
#     "https://github.com/HikariTJU/LD/issues/74",
#     "https://github.com/yuanli2333/Teacher-free-Knowledge-Distillation/issues/41",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.KLDivLoss.html",
#     "https://github.com/pytorch/pytorch/pull/14457",
# ]
# wrong = '''
# loss = kl_div(log_probs, target)
# '''
# right = '''
# loss = kl_div(log_probs, target, reduction="none").sum(-1).mean()  # of images sum(1)
# '''
# rule = "warning"
# when = "the divergence is one of several loss terms, or its value is reported"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=2.1" }
# ///
"""In this example the loss is a quarter of the divergence, because the default divides by the
number of elements, not by the number of distributions (pytorch#14457). With 1000 classes, such a
term is 1000 times too small next to a cross entropy. In HikariTJU/LD#74, the factor is 17.

With "batchmean", the sum is divided only by the size of the first dimension. For the shape (batch,
classes), the result is right. For (batch, tokens, classes), it is the divergence times the number
of tokens. The corrected line sums over the last dimension, so the classes have to come last; for
(batch, classes, height, width) use sum(1). The mean() also counts padded tokens. To exclude them,
use .sum(-1)[mask].sum() / mask.sum().clamp(min=1). If all tokens are padding, this is 0 instead of
NaN.
"""

import warnings

import torch
from torch.nn.functional import kl_div


def default(log_probs, target):
    loss = kl_div(log_probs, target)
    return loss


def summed(log_probs, target):
    loss = kl_div(log_probs, target, reduction="none").sum(-1).mean()
    return loss


def batchmean(log_probs, target):
    return kl_div(log_probs, target, reduction="batchmean")


def of_images(log_probs, target):
    log_probs, target = log_probs.movedim(-1, 1), target.movedim(-1, 1)
    return kl_div(log_probs, target, reduction="none").sum(1).mean()


def ratio(device, loss_of, *shape):
    log_probs = torch.full((*shape, 4), 0.25, device=device).log()
    target = torch.tensor([0.7, 0.1, 0.1, 0.1], device=device).expand(*shape, 4)
    divergence = (target * (target.log() - log_probs)).sum(-1).mean()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (loss_of(log_probs, target) / divergence).item()


def reproduce(device):
    found = ratio(device, default, 2)
    if found < 0.5:
        return f"{found:.2f} of the divergence"


def control(device):
    found = [ratio(device, summed, 2), ratio(device, summed, 2, 3)]
    found += [ratio(device, batchmean, 2), ratio(device, batchmean, 2, 3) / 3]
    found += [ratio(device, of_images, 2, 3, 5)]
    if any(abs(one - 1) > 1e-3 for one in found):
        return f"{found} of the divergence"


def messages(device):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        default(torch.zeros(1, 1, device=device), torch.ones(1, 1, device=device))
    return "\n".join(str(one.message) for one in caught)


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
