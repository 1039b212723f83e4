# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A softmax over dim=0 distributes the probability over the samples of the batch"
# kind = "silent"
# symptom = "the probabilities of a sample depend on its batch"
# origin = "usage"
# reports = [
#     "https://github.com/PetrochukM/PyTorch-NLP/issues/2",
#     "https://github.com/DeepReinforcementLearning/DeepReinforcementLearningInAction/issues/32",
#     "https://github.com/Lackel/DPN/issues/1",
#     "https://github.com/ctallec/world-models/issues/10",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.Softmax.html"]
# wrong = '''
# probabilities = logits.softmax(dim=0)  # [batch, classes]
# '''
# right = '''
# probabilities = logits.softmax(dim=-1)
# '''
# rule = "warning"
# when = "the first dimension is the batch"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A sample's probabilities do not sum to one, and depend on the other samples in the batch.

A softmax makes the elements along dim sum to one (docs: torch.nn.Softmax). For a single sample
without a batch dimension, dim=0 is right, and code with dim=0 was often written for such samples
(DeepReinforcementLearning/DeepReinforcementLearningInAction#32). The classes are the last dimension
of [batch, classes] and [batch, time, classes]. In [batch, classes, height, width], use dim=1 for
the classes. In attention scores of shape [batch, time, 1], use dim=1 for the time. Along a
dimension of size one, a softmax gives 1 everywhere, so a single logit per sample needs sigmoid().
"""

import torch


def start(device):
    return torch.tensor([[1.0, 3.0], [4.0, 2.0]], device=device)


def check(probabilities, logits):
    expected = torch.stack([torch.exp(row) / torch.exp(row).sum() for row in logits])
    if not torch.allclose(probabilities, expected):
        return "the probabilities of a sample depend on its batch"


def reproduce(device):
    logits = start(device)
    probabilities = logits.softmax(dim=0)  # [batch, classes]
    return check(probabilities, logits)


def control(device):
    logits = start(device)
    probabilities = logits.softmax(dim=-1)
    return check(probabilities, logits)


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
