"""A classifier whose logits differ by hundreds, with labels of shape (rows,) and (rows, steps)."""

import torch

SETTINGS = ("plain", "AdamW", "frozen norm", "bfloat16", "accumulation", "short last batch")
TOLERANCE = 1e-3


def train(t, loss_of):
    losses = []
    for number, (x, y) in enumerate(t.batches):
        with t.autocast():
            logits = t.model(x).float() * 200
        if number % 2:
            logits, y = logits.unsqueeze(1).repeat(1, 2, 1), torch.stack([y, (y + 1) % 4], 1)
        losses.append(loss_of(logits, y))
        (losses[-1] / 200).backward()
        if (number + 1) % t.setting.window == 0 or number + 1 == len(t.batches):
            t.optimizer.step()
            t.optimizer.zero_grad()
    return [losses, t.model.state_dict()]


def place(t):
    def loss_of(logits, y):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    return train(t, lambda logits, y: t.loss(logits.flatten(0, -2), y.flatten()))
