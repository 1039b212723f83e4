"""A model that is trained towards its own earlier output, for a moved input."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "dropout")


def train(t, forward):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        forward(x, y).backward()
        t.optimizer.step()
    return t.model.state_dict()


def parts(t):
    return torch.nn.Sequential(
        t.model.body, t.model.dropout, t.model.head
    ), torch.nn.functional.mse_loss


def place(t):
    model, criterion = parts(t)
    device = "cpu"

    def forward(x, y):
        paste
        return loss

    return train(t, forward)


def reference(t):
    model, criterion = parts(t)

    def forward(x, y):
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            target = model(x)
        with torch.autocast("cpu", torch.bfloat16):
            return criterion(model(x + 0.1), target)

    return train(t, forward)
