"""Attention with a distance bias over padded batches, against each sequence without its padding."""

import torch

SETTINGS = ("plain", "AdamW", "short last batch")


def bias(n):
    return -(torch.arange(float(n))[:, None] - torch.arange(n)).abs().double()


def train(t, attend):
    attention = torch.nn.MultiheadAttention(8, 2, bias=False, batch_first=True).double()
    t.model = t.watched(attention)
    optimizer, outputs = (
        getattr(torch.optim, t.setting.optimizer)(attention.parameters(), lr=0.01),
        [],
    )
    for lengths in ([4, 2], [1, 3]):
        x, padded = torch.randn(2, 4, 8).double(), torch.arange(4) >= torch.tensor(lengths)[:, None]
        y = attend(attention, x, padded)
        optimizer.zero_grad()
        y.square().sum().backward()
        optimizer.step()
        outputs.append(y)
    return [outputs, attention.state_dict()]


def place(t):
    def attend(attention, x, padded):
        float_mask = bias(4)
        float_padding = torch.zeros(2, 4).double().masked_fill(padded, -float("inf"))
        paste
        return y[~padded]

    return train(t, attend)


def reference(t):
    def attend(attention, x, padded):
        kept = [s[~p][None] for s, p in zip(x, padded)]
        return torch.cat([attention(s, s, s, attn_mask=bias(s.shape[1]))[0][0] for s in kept])

    return train(t, attend)
