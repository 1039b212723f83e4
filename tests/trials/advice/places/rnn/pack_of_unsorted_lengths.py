"""An encoder of sequences in any order; each of them alone is the reference."""

import torch
from torch.nn.utils.rnn import pack_padded_sequence  # noqa: F401  (the lines call it)

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")
TOLERANCE = 2e-2


def train(t, encode):
    t.model = t.watched(torch.nn.GRU(2, 4))
    t.groups = [{"params": [p], "lr": 0.1} for p in t.model.parameters()]
    states = []
    for x, y in t.batches:
        x = x.view(-1, 3, 2).transpose(0, 1).contiguous()
        t.optimizer.zero_grad()
        with t.autocast():
            state = encode(t.model, x, torch.tensor([1, 3, 2, 3][: len(y)]))
        t.loss(state[0].float(), y).backward()
        t.optimizer.step()
        states.append(state.float())
    return states


def place(t):
    def encode(gru, x, lengths):
        paste
        return gru(packed)[1]

    return train(t, encode)


def reference(t):
    def encode(gru, x, lengths):
        rows = zip(x.split(1, dim=1), lengths.tolist())
        return torch.cat([gru(row[:n])[1] for row, n in rows], dim=1)

    return train(t, encode)
