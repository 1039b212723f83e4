"""Rates, or 0 if absent, that enter the loss as r * log(r); some are missing."""

import torch

SETTINGS = ("plain", "AdamW", "frozen norm", "bfloat16", "accumulation")


def train(t, loss_of):
    losses = []
    for number, (inputs, y) in enumerate(t.batches):
        with t.autocast():
            output = t.model(inputs)
            rates = output.float().exp() * (inputs[:, :4] > 0)
        known = torch.tensor([float("nan"), float("-inf"), -1.0, 3.0])  # constants beside them
        x = torch.cat([rates.flatten(), known])
        losses.append(t.loss(output.float(), y) + 0.1 * loss_of(x))
        losses[-1].backward()
        if (number + 1) % t.setting.window == 0 or number + 1 == len(t.batches):
            t.optimizer.step()
            t.optimizer.zero_grad()
    return [losses, t.model.state_dict()]


def place(t):
    def loss_of(x):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def loss_of(x):
        chosen = x[x > 0]
        return (chosen.log() * chosen).sum()

    return train(t, loss_of)
