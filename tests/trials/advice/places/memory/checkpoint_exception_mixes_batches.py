"""A checkpointed network; every second batch does not fit, and the next one is taken for it."""

import torch
from torch.utils.checkpoint import checkpoint

SETTINGS = ("plain", "AdamW", "tied", "dropout")


def train(t, attempt):
    for number in range(len(t.batches) - 1):
        (x, y), after = t.batches[number], t.batches[number + 1]
        fails = [number % 2 == 0]

        def forward(batch):
            if fails[0]:
                fails[0] = False
                raise MemoryError
            rows, labels = batch
            return t.loss(t.model.head(t.model.body(rows).tanh()), labels)

        t.optimizer.zero_grad()
        attempt(forward, (x, y), after).backward()
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    def attempt(forward, batch, next_batch):
        paste
        return loss

    return train(t, attempt)


def reference(t):
    def attempt(forward, batch, next_batch):
        try:
            return forward(batch)
        except MemoryError:
            pass
        return forward(next_batch)

    return train(t, attempt)
