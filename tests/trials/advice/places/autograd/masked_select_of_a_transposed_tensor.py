"""Padded sequences behind a convolution, of which one is broadcast, against a loop over the kept
steps.
"""

import torch

SETTINGS = ("plain", "AdamW", "short last batch")


def train(t, select):
    t.model = t.watched(torch.nn.Conv1d(2, 3, 1))
    optimizer, outputs = getattr(torch.optim, t.setting.optimizer)(t.model.parameters(), lr=0.1), []
    for last in (4, 2, 3):
        x = t.model(torch.randn(2, 2, 4)).transpose(1, 2)  # (rows, steps, features)
        mask = (torch.arange(4) < torch.tensor([[4], [last]]))[:, :, None]
        y = torch.cat([select(x, mask), select(x[:1], mask)])
        optimizer.zero_grad()
        (y * torch.linspace(-1, 1, len(y))).sum().backward()
        optimizer.step()
        outputs.append(y)
    return [t.model.state_dict(), outputs]


def place(t):
    def select(x, mask):
        paste
        return y

    return train(t, select)


def reference(t):
    def select(x, mask):
        kept = [x[i % len(x), j] for i in range(2) for j in range(4) if mask[i, j]]
        return torch.cat(kept)

    return train(t, select)
