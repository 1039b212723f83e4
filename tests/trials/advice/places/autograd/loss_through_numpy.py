"""Regression, compared with the built-in loss."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "accumulation", "bfloat16", "short last batch")


def train(t, loss_of):
    for number, (x, label) in enumerate(t.batches):
        y = torch.nn.functional.one_hot(label, 4).float()
        with t.autocast():
            loss = loss_of(t.model(x).float().sigmoid(), y)
        loss.backward()
        if (number + 1) % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return t.model.state_dict()


def place(t):
    def loss_of(output, y):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    return train(t, torch.nn.MSELoss())


TOLERANCE = 0.001
