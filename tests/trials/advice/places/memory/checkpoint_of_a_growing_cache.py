"""A decoder that is trained on chunks of a sequence, each of which attends to all before it."""

import torch
from torch.utils.checkpoint import checkpoint

SETTINGS = ("plain", "AdamW", "dropout", "tied", "bfloat16")


def attention(x, keys):
    scores = torch.nn.functional.dropout(x @ keys.T, p=0.1)
    return scores.softmax(-1) @ keys


def train(t, attend_to_all):
    for _ in range(2):
        cache, total = [], 0.0
        for rows, y in t.batches[:3]:
            with t.autocast():
                x = t.model(rows)
                total = total + t.loss(attend_to_all(x, cache).float(), y)
        t.optimizer.zero_grad()
        total.backward()
        t.optimizer.step()
    return [t.model.state_dict(), [chunk.detach() for chunk in cache]]


def place(t):
    def attend_to_all(x, cache):
        paste
        return y

    return train(t, attend_to_all)


def reference(t):
    def attend_to_all(x, cache):
        cache += [x]
        return attention(x, torch.cat(cache))

    return train(t, attend_to_all)
