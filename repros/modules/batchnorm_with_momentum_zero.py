# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "BatchNorm with momentum=0 never learns its statistics and is useless in eval mode"
# kind = "silent"
# symptom = "eval output is \\d{2} where training saw 1"
# origin = "usage"
# reports = ["https://github.com/Cadene/pretrained-models.pytorch/issues/5"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html",
#     "https://github.com/facebookresearch/detr/issues/498",
# ]
# wrong = '''
# norm = BatchNorm1d(1, momentum=0)
# '''
# right = '''
# norm = BatchNorm1d(1, momentum=0.1)
# '''
# rule = "warning"
# when = "the running statistics are not loaded from a checkpoint"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training succeeds, but the predictions in eval mode are nonsense.

The momentum is the weight of the new batch in the running statistics (docs: torch.nn.BatchNorm1d).
With momentum=0, the statistics keep their initial mean of 0 and variance of 1, and eval mode uses
these values. Leaving out eval(), as in facebookresearch/detr#498, makes the output for a sample
depend on the other samples in its batch.

A model that was trained this way does not need to be trained again. Call reset_running_stats() on
its BatchNorm layers and set their momentum to None, which averages all batches equally. Then run
some of the training data in train mode under no_grad().

To keep loaded statistics, call eval() on the layer after every train(), because momentum=0.1 would
change them.
"""

import torch
from torch.nn import BatchNorm1d


def train_and_predict(device, norm, mode="eval"):
    norm.to(device)
    x = torch.tensor([[9.0], [11.0]], device=device)
    for _ in range(100):
        norm(x)
    norm.train(mode == "train")
    worst = float(norm(x).detach().abs().max())
    if worst > 5:
        return f"eval output is {worst:.0f} where training saw 1"
    if not torch.allclose(norm(x + 2)[0], norm(x)[1]):
        return "the output for 11.0 depends on its batch"
    if not torch.allclose(norm(x), (x - 10) / 2**0.5, atol=0.01):
        return f"the output is {norm(x)}"


def reproduce(device):
    norm = BatchNorm1d(1, momentum=0)
    return train_and_predict(device, norm)


def control(device):
    norm = BatchNorm1d(1, momentum=0.1)
    return train_and_predict(device, norm) or train_and_predict(device, repaired(device))


def repaired(device):
    norm = BatchNorm1d(1, momentum=0).to(device)
    x = torch.tensor([[9.0], [11.0]], device=device)
    for _ in range(100):
        norm(x)
    norm.reset_running_stats()
    norm.momentum = None
    return norm


def popular_fix(device):
    norm = BatchNorm1d(1, momentum=0)
    return train_and_predict(device, norm, mode="train")


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
