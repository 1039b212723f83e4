"""A binary classifier that ends in a linear layer; its probabilities are taken after training."""

import torch

SETTINGS = ("plain", "AdamW", "accumulation", "bfloat16", "short last batch")
TOLERANCE = 1e-2


def start(t):
    t.model = t.watched(torch.nn.Sequential(torch.nn.Linear(3, 1)))
    t.groups = [{"params": [p], "lr": 0.1} for p in t.model.parameters()]
    return [(4 * x[:, :3], (y > 1).float()[:, None]) for x, y in t.batches]


def train(t, loss_of):
    batches, losses = start(t), []
    for number, (x, y) in enumerate(batches, 1):
        loss = loss_of(t.model, x, y)
        losses.append(loss.detach().float())
        (loss / t.setting.window).backward()
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return [losses, torch.sigmoid(t.model(batches[0][0])), t.model.state_dict()]


def place(t):
    def loss_of(model, x, y):
        with t.autocast():
            paste
        return loss

    return train(t, loss_of)


def reference(t):
    def loss_of(model, x, y):
        with t.autocast():
            output = model(x)
        p = torch.sigmoid(output.double())
        return -(y * p.log() + (1 - y) * (1 - p).log()).mean().float()

    return train(t, loss_of)
