# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The mean cross entropy is NaN if all labels of a batch are ignore_index"
# kind = "silent"
# symptom = "loss is nan"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/70348",
#     "https://github.com/pytorch/pytorch/issues/75181",
#     "https://github.com/pytorch/pytorch/issues/116349",
#     "https://github.com/meta-llama/llama-cookbook/issues/133",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/64572",
#     "https://github.com/pytorch/pytorch/pull/135434",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
# ]
# wrong = '''
# loss = cross_entropy(logits, labels)  # every label is -100
# '''
# right = '''
# count = (labels != -100).sum().clamp(min=1)
# loss = cross_entropy(logits.float(), labels, reduction="sum") / count
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=2.6" }
# ///
"""A single batch without labels makes the whole evaluation loss NaN
(meta-llama/llama-cookbook#133). The mean is taken over the labels that are not ignored. If all
labels are ignored, the mean is 0/0, which is NaN. Since 1.11, torch has deliberately kept this
result (pytorch#64572, pytorch#70348). On MPS the mean has been NaN since 2.6 (pytorch#135434, not
measured).

The logits' gradients are 0 (pytorch#116349), so the NaN does not reach the weights. However, a
learned weight that multiplies the loss does become NaN. For such a batch, the corrected code
returns a loss of 0. If you average over batches, weight each loss by its number of labels that are
not ignored. If you use another ignore_index, such as 255 for void pixels, put it into both lines.
With class weights, divide by the sum of the labels' weights instead of the count, and pass a tiny
min= instead of 1. The call to float() is needed because the sum over a few thousand tokens is inf
in float16; omit it for float64.
"""

import torch
from torch.nn.functional import cross_entropy


def mean(logits, labels):
    loss = cross_entropy(logits, labels)  # every label is -100
    return loss


def of_known(logits, labels):
    count = (labels != -100).sum().clamp(min=1)
    loss = cross_entropy(logits.float(), labels, reduction="sum") / count
    return loss


def check(device, loss_of):
    logits = torch.tensor([[1.0, 1.0, 2.0], [0.0, 3.0, 1.0]], device=device, requires_grad=True)
    some, none = torch.tensor([[2, -100], [-100, -100]], device=device)
    losses = loss_of(logits, some), loss_of(logits, none)
    losses[1].backward()
    if logits.grad.any():
        return f"the gradient is {logits.grad.tolist()}"
    if losses[1].isnan():
        return f"the loss is {losses[1].item()}"
    if not torch.allclose(losses[0], -logits[0].log_softmax(0)[2]) or losses[1] != 0:
        return f"the losses are {losses}"


def reproduce(device):
    return check(device, mean)


def control(device):
    return check(device, of_known)


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
