"""A binary classifier of integer targets; 0 and 255, and -1 and 1, have to raise."""

import torch
from torch.nn.functional import binary_cross_entropy_with_logits  # noqa: F401  (lines)

SETTINGS = ("plain", "AdamW", "tied", "bfloat16", "short last batch")
TOLERANCE = 1e-2


def train(t, loss_of):
    losses = []
    for x, y in t.batches:
        for target in ((y > 1).long(), (y > 1).int(), y > 1):
            t.optimizer.zero_grad()
            with t.autocast():
                loss = loss_of(t.model(x)[:, 0], target)
            loss.backward()
            t.optimizer.step()
            losses.append(loss.detach().float())
    return losses


def place(t):
    def loss_of(logits, target):
        paste
        return loss

    losses = train(t, loss_of)
    refused = []
    for target in (torch.tensor([0, 255], dtype=torch.uint8), torch.tensor([-1, 1])):
        try:
            refused.append(loss_of(torch.ones(2), target).item())
        except AssertionError:
            refused.append("raised")
    return losses, refused


def reference(t):
    def loss_of(logits, target):
        p = logits.double().sigmoid()
        return -torch.where(target.bool(), p, 1 - p).log().mean().float()

    return train(t, loss_of), ["raised", "raised"]
