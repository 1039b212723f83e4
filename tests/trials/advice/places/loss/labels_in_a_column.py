"""A classifier whose labels are a column of a table, with a last batch of one row; and masks."""

import torch
from torch.nn.functional import cross_entropy

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")
TOLERANCE = 1e-2


def train(t, loss_of, column):
    t.model = t.watched(torch.nn.Linear(6, 4))
    t.groups = [{"params": [p], "lr": 0.1} for p in t.model.parameters()]
    losses = []
    for x, y in [*t.batches, [one[:1] for one in t.batches[0]]]:
        t.optimizer.zero_grad()
        with t.autocast():
            logits = t.model(x)
            loss = loss_of(logits, y[:, None] if column else y)
        masks = y.view(-1, 1, 1).expand(-1, 2, 3)
        images = logits.float()[..., None, None].expand(-1, -1, 2, 3)
        (loss + loss_of(images, masks[:, None] if column else masks)).backward()
        t.optimizer.step()
        losses.append(loss.detach().float())
    return [losses, t.model.state_dict()]


def place(t):
    def loss_of(logits, labels):
        paste
        return loss

    return train(t, loss_of, column=True)


def reference(t):
    return train(t, lambda logits, labels: cross_entropy(logits, labels), column=False)
