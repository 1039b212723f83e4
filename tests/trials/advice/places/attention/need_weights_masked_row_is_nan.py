"""Attention over batches of which some sequences are empty, against the batches without them."""

import torch

SETTINGS = ("plain", "AdamW", "short last batch")


def train(t, loss_of):
    t.model = attention = t.watched(torch.nn.MultiheadAttention(8, 2, bias=False, batch_first=True))
    optimizer = getattr(torch.optim, t.setting.optimizer)(attention.parameters(), lr=0.01)
    losses = []
    for lengths in ([4, 2, 0], [0, 1, 0], [3, 4, 2]):
        x = torch.randn(3, 4, 8)
        padding = torch.arange(4) >= torch.tensor(lengths)[:, None]
        loss = loss_of(attention, x, padding)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return [losses, attention.state_dict()]


def place(t):
    def loss_of(attention, x, padding):
        paste
        return loss

    return train(t, loss_of)


def reference(t):
    def loss_of(attention, x, padding):
        kept = [s[~p][None] for s, p in zip(x, padding) if not p.all()]
        return sum(attention(s, s, s)[0].sum() for s in kept)

    return train(t, loss_of)
