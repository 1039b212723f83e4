# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A sigmoid before binary_cross_entropy_with_logits keeps the loss of negatives above 0.69"
# kind = "silent"
# symptom = "loss stays above 0\\.6"
# origin = "usage"
# reports = [
#     "https://github.com/avBuffer/UNet3plus_pth/issues/23",
# ]
# documents = [
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/18272",
#     "https://github.com/yudi-mars/daisyRec/pull/15",
#     "https://github.com/itakurah/focal-loss-pytorch/pull/5",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html",
# ]
# wrong = '''
# loss = binary_cross_entropy_with_logits(logits.sigmoid(), target)
# '''
# right = '''
# loss = binary_cross_entropy_with_logits(logits, target)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss already applies a sigmoid (docs: torch.nn.BCEWithLogitsLoss). The sigmoid of a value
between 0 and 1 is between 0.5 and 0.73 (itakurah/focal-loss-pytorch#5), so a negative sample's loss
stays above log 2 = 0.69. If the predictions also pass through both sigmoids, no prediction is below
0.5. With only the first sigmoid, predictions can be below 0.5. A model that ends in a Sigmoid has
the same problem: remove this layer, and call sigmoid() when predicting.
"""

import torch
from torch.nn.functional import binary_cross_entropy_with_logits


def twice(logits, target):
    loss = binary_cross_entropy_with_logits(logits.sigmoid(), target)
    return loss


def once(logits, target):
    loss = binary_cross_entropy_with_logits(logits, target)
    return loss


def train(device, loss_of):
    logits = torch.zeros(4, device=device, requires_grad=True)
    target = torch.zeros(4, device=device)
    optimizer = torch.optim.SGD([logits], lr=1.0)
    for _ in range(300):
        optimizer.zero_grad()
        loss = loss_of(logits, target)
        loss.backward()
        optimizer.step()
    if logits.sigmoid().min() >= 0.5 or logits.sigmoid().sigmoid().min() < 0.5:
        return "the predictions are not as the docstring says"
    if loss > 0.6:
        return f"the loss stays above 0.6, at {loss.item():.2f}"
    if (loss + (1 - logits.sigmoid()).log().mean()).abs() > 0.01:
        return f"the loss is {loss.item()}, not the cross entropy"


def reproduce(device):
    return train(device, twice)


def control(device):
    return train(device, once)


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
