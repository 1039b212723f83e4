# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "softmax() without dim uses the batch dimension of a three-dimensional input"
# kind = "silent"
# symptom = "implicit dimension 0 mixes the samples"
# messages = [
#     "Implicit dimension choice for softmax has been deprecated",
#     "Implicit dimension choice for log_softmax has been deprecated",
#     "Implicit dimension choice for softmin has been deprecated",
# ]
# elsewhere = ["Implicit dimension choice for gumbel_softmax has been deprecated"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/1020",
#     "https://github.com/pytorch/pytorch/issues/1763",
# ]
# documents = [
#     "https://github.com/motokimura/capsnet_pytorch/pull/1",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/functional.py",
# ]
# wrong = '''
# scores = torch.bmm(queries, keys.transpose(1, 2))  # [batch, queries, keys]
# weights = softmax(scores)
# '''
# right = '''
# scores = torch.bmm(queries, keys.transpose(1, 2))  # [batch, queries, keys]
# weights = softmax(scores, dim=-1)  # the dimension that has to sum to 1
# '''
# rule = "warning"
# when = "the samples are along the first dimension"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""torch issues a warning, and the weights are normalized over the samples of the batch.

The implicit dim is 0 for inputs of 0, 1 or 3 dimensions and 1 for all others
(torch/nn/functional.py). For [batch, classes], the implicit dim is right, so the warning is easily
ignored. In motokimura/capsnet_pytorch#1, the implicit dim led to a softmax over the wrong
dimension. If the implicit dim is right, but not the last, write it instead of -1: for the classes
of [batch, classes, height, width], write 1.

If the last dimension has size 1, a softmax over it makes every weight 1, so energies of shape
[batch, steps, 1] need dim=1. The coupling coefficients of capsules, of shape [1, inputs, outputs,
1], need dim=2, but the implicit dim, 1, is that of the inputs.
"""

import warnings

import torch
from torch.nn.functional import log_softmax, softmax, softmin


def start(device):
    queries = torch.arange(8.0, device=device).view(2, 2, 2)
    return queries, queries / 10


def check(weights, scores):
    expected = scores.exp() / scores.exp().sum(2, keepdim=True)
    if not torch.allclose(weights, expected):
        return "the implicit dimension 0 mixes the samples"


def reproduce(device):
    queries, keys = start(device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = torch.bmm(queries, keys.transpose(1, 2))  # [batch, queries, keys]
        weights = softmax(scores)
    return check(weights, scores)


def control(device):
    queries, keys = start(device)
    scores = torch.bmm(queries, keys.transpose(1, 2))  # [batch, queries, keys]
    weights = softmax(scores, dim=-1)  # the dimension that has to sum to 1
    return check(weights, scores)


def messages(device):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for function in (softmax, log_softmax, softmin):
            function(torch.ones(2, 2, 2, device=device))
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
