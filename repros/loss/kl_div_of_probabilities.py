# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "kl_div of probabilities instead of log-probabilities is negative for soft targets"
# kind = "silent"
# symptom = "divergence is negative"
# origin = "usage"
# reports = [
#     "https://github.com/michaal94/torch_DCEC/issues/1",
#     "https://github.com/pytorch/pytorch/issues/5282",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.KLDivLoss.html",
#     "https://github.com/lightly-ai/lightly/pull/1341",
# ]
# wrong = '''
# loss = kl_div(logits.softmax(1), target, reduction="batchmean")
# '''
# right = '''
# loss = kl_div(logits.log_softmax(1), target, reduction="batchmean")
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=2.1" }
# ///
"""A divergence is never negative. The input of kl_div has to be in log space (docs:
torch.nn.KLDivLoss, lightly-ai/lightly#1341), but probabilities are not rejected. The loss is then
the target's negative entropy, minus a mean of the probabilities. Whatever the target is, the loss
is smallest if all probability is on the target's most likely class. For one-hot targets the loss is
zero or negative.

For logits of shape (rows, tokens, classes), call flatten(0, 1) on the logits and the targets first.
Otherwise, dimension 1 does not hold the classes, and "batchmean" divides only by the number of
rows.

If a mask sets logits to -inf, as in attention, the divergence is NaN (0 * -inf). Fill these logits
with -1e4 instead. A temperature below 1, or log_softmax() in float16, can turn
torch.finfo(logits.dtype).min into -inf again.
"""

import torch
from torch.nn.functional import kl_div


def of_probabilities(logits, target):
    loss = kl_div(logits.softmax(1), target, reduction="batchmean")
    return loss


def of_logarithms(logits, target):
    loss = kl_div(logits.log_softmax(1), target, reduction="batchmean")
    return loss


def check(device, loss_of):
    logits = torch.tensor([[1.0, 2.0, 3.0]], device=device)
    target = torch.tensor([[0.2, 0.3, 0.5]], device=device)
    loss, divergence = loss_of(logits, target), (target * (target / logits.softmax(1)).log()).sum()
    if loss < 0:
        return f"the divergence is negative: {loss.item():.2f}"
    if not torch.allclose(loss, divergence, atol=1e-4):
        return f"the loss is {loss.item():.3f}, the divergence {divergence.item():.3f}"


def reproduce(device):
    return check(device, of_probabilities)


def control(device):
    return check(device, of_logarithms)


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
