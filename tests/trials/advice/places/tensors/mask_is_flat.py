"""A loss whose weights are zero where the overlap of a cell with an object is large."""

import torch

SETTINGS = ("plain", "AdamW", "short last batch")


def train(t, ignore):
    losses = []
    for x, _ in t.batches:
        outputs = t.model(x)
        ious = outputs.detach().sigmoid().flatten()
        weight = ignore(torch.ones(len(x), 2, 2), ious, 0.5)
        loss = (outputs.view(-1, 2, 2).square() * weight).sum()
        t.optimizer.zero_grad()
        loss.backward()
        t.optimizer.step()
        losses += [loss.detach(), weight]
    return losses


def place(t):
    def ignore(weight, ious, threshold):
        paste
        return weight

    return train(t, ignore)


def reference(t):
    def ignore(weight, ious, threshold):
        kept = [float(iou <= threshold) for iou in ious.tolist()]
        return torch.tensor(kept).reshape(weight.shape)

    return train(t, ignore)
