"""Attention over batches some of whose sequences are empty, compared with the batches without them.

Two batches are padded on the right, one on the left. What comes out for an empty one is used, too.
"""

import torch

SETTINGS = ("plain", "AdamW")


def train(t, loss_of):
    t.model = attention = t.watched(torch.nn.MultiheadAttention(8, 2, bias=False, batch_first=True))
    optimizer = getattr(torch.optim, t.setting.optimizer)(attention.parameters(), lr=0.01)
    results = []
    for lengths, left in (([4, 2, 0], False), ([0, 1, 2], True), ([3, 4, 0], False)):
        x = torch.randn(3, 4, 8)
        positions = torch.arange(3, -1, -1) if left else torch.arange(4)
        padding = positions >= torch.tensor(lengths)[:, None]
        loss, y = loss_of(attention, x, padding)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        results += [loss, y[padding.all(dim=1)]]
    return [results, attention.state_dict()]


def place(t):
    def loss_of(attention, x, padding):
        paste
        return loss, y

    return train(t, loss_of)


def reference(t):
    def loss_of(attention, x, padding):
        kept = [s[~p][None] for s, p in zip(x, padding) if not p.all()]
        return sum(attention(s, s, s)[0].sum() for s in kept), torch.zeros_like(x)

    return train(t, loss_of)
