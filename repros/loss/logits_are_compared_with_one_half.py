# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "logits > 0.5 counts probabilities between 0.5 and 0.62 as negative"
# kind = "silent"
# symptom = "accuracy 0.5 for logits with the right signs"
# origin = "usage"
# reports = ["https://github.com/luca-medeiros/lightning-sam/issues/13"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html",
#     "https://github.com/facebookresearch/detectron2/pull/4913",
# ]
# wrong = '''
# predicted = logits > 0.5
# '''
# right = '''
# predicted = logits > 0  # sigmoid(logits) > 0.5
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss falls, but recall, and usually also accuracy, is lower than it should be.

A model that is trained with BCEWithLogitsLoss has no sigmoid at its end, so its outputs are not
probabilities (docs: BCEWithLogitsLoss). A probability of 0.5 is a logit of 0, and a logit of 0.5 is
a probability of 0.62. With pos_weight, sigmoid(logits) is not the probability: if 20 % of the
labels are 1 and the weight is 4, it is 0.5. For another threshold q, compare sigmoid(logits) with
q. While the logits are small, many predictions are wrong; for a confident model, few are. If the
model ends in a Sigmoid, 0.5 is right, and > 0 is true for nearly all outputs.
"""

import torch


def start(device):
    labels = torch.tensor([True, True, False, False], device=device)
    return torch.tensor([0.3, 0.4, -0.3, -2.0], device=device), labels


def check(predicted, logits, labels):
    if not predicted.equal(logits.sigmoid() > 0.5):
        accuracy = (predicted == labels).float().mean().item()
        return f"accuracy {accuracy} for logits with the right signs"


def reproduce(device):
    logits, labels = start(device)
    predicted = logits > 0.5
    return check(predicted, logits, labels)


def control(device):
    logits, labels = start(device)
    predicted = logits > 0  # sigmoid(logits) > 0.5
    return check(predicted, logits, labels)


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
