# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A softmax before cross_entropy keeps even a perfect model's loss above a floor"
# kind = "silent"
# symptom = "loss stays above 0\\.7"
# origin = "usage"
# reports = [
#     "https://github.com/ariecattan/SciCo/issues/2",
#     "https://github.com/amdegroot/ssd.pytorch/issues/218",
# ]
# documents = [
#     "https://discuss.pytorch.org/t/cross-entropy-loss-is-not-decreasing/43814/16",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",
#     "https://github.com/bowang-lab/Transformer-GCN-QA/pull/32",
# ]
# wrong = '''
# loss = cross_entropy(logits.softmax(dim=1), labels)
# '''
# right = '''
# loss = cross_entropy(logits, labels)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The function cross_entropy expects logits and applies log_softmax itself (docs:
torch.nn.CrossEntropyLoss). It treats probabilities as logits between 0 and 1. Even a certain and
correct prediction over four classes then has a loss of log(1 + 3 / e) = 0.74 (ariecattan/SciCo#2).

A model that ends in a Softmax has the same problem: remove the Softmax, and call softmax() when
predicting. A LogSoftmax is harmless.

Changing the learning rate, as advised for a stuck loss (discuss.pytorch.org, thread 43814), does
not lower this floor.
"""

import torch
from torch.nn.functional import cross_entropy


def twice(logits, labels):
    loss = cross_entropy(logits.softmax(dim=1), labels)
    return loss


def once(logits, labels):
    loss = cross_entropy(logits, labels)
    return loss


def train(device, loss_of, lr=1.0):
    logits = torch.zeros(4, 4, device=device, requires_grad=True)
    labels = torch.arange(4, device=device)
    optimizer = torch.optim.SGD([logits], lr=lr)
    for _ in range(300):
        optimizer.zero_grad()
        loss = loss_of(logits, labels)
        loss.backward()
        optimizer.step()
    if loss > 0.7:
        return f"the loss stays above 0.7, at {loss.item():.2f}"
    if (loss + logits.log_softmax(1).diagonal().mean()).abs() > 0.01:
        return f"the loss is {loss.item()}, not the cross entropy"


def reproduce(device):
    return train(device, twice)


def control(device):
    return train(device, once)


def popular_fix(device):
    return train(device, twice, lr=0.1)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
