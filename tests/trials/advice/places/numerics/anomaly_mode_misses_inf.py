"""A weight under a root comes to zero after the first step: training should stop before the next."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16")


class Net(torch.nn.Module):
    def __init__(self, t):
        super().__init__()
        self.body, self.frozen = torch.nn.Linear(6, 4), torch.nn.Linear(4, 4).requires_grad_(False)
        self.width = torch.nn.Parameter(torch.tensor(0.03))

    def forward(self, x):
        return torch.cat([self.frozen(self.body(x)), self.width.sqrt().expand(len(x), 1)], dim=1)


def start(t):
    t.model = t.watched(Net(t))

    def criterion(output, y):
        with t.autocast():
            return t.loss(output[:, :4], y) + output[:, 4].mean()

    return t.model, criterion


def step(t):
    t.optimizer.step()
    with torch.no_grad():
        t.model.width.clamp_(min=0)


def place(t):
    model, criterion = start(t)
    steps = 0
    try:
        for x, y in t.batches:
            t.optimizer.zero_grad()
            paste
            step(t)
            steps += 1
    except RuntimeError:
        pass
    return [steps, model.state_dict()]


def reference(t):
    model, criterion = start(t)
    steps = 0
    for x, y in t.batches:
        if model.width == 0:
            break
        t.optimizer.zero_grad()
        criterion(model(x), y).backward()
        step(t)
        steps += 1
    return [steps, model.state_dict()]
