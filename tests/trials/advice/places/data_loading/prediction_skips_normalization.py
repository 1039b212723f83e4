"""A network trained on normalized rows predicts the training rows in their own units."""

import torch

# without AdamW, whose first steps turn the rounding of the mean into steps of full size
SETTINGS = ("plain", "tied", "frozen norm", "accumulation", "short last batch")


def fit(t, rows, targets):
    for step, start in enumerate(range(0, len(rows), 4)):
        part = slice(start, start + 4)
        (t.loss(t.model(rows[part]), targets[part]) / t.setting.window).backward()
        if step % t.setting.window == t.setting.window - 1:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return t.model.eval()


def data(t):
    rows = torch.cat([5 * x + 20 for x, _ in t.batches])
    return rows, torch.cat([y for _, y in t.batches])


def place(t):
    rows, targets = data(t)
    x = rows[:3]

    def train(rows, targets):
        return fit(t, rows, targets)

    paste
    return prediction


def reference(t):
    rows, targets = data(t)
    normal = (rows - rows.sum(0) / len(rows)) / rows.var(0).sqrt()
    return fit(t, normal, targets)(normal[:3])
