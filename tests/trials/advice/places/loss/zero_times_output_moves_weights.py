"""Two tasks, of which the second is switched off, and on again for the last batch."""

import torch

SETTINGS = ("AdamW", "plain", "tensor lr", "dropout", "bfloat16", "short last batch")


def train(t, step):
    for number, (x, y) in enumerate(t.batches):
        t.optimizer.zero_grad(set_to_none=True)
        with t.autocast():
            hidden = t.model.dropout(torch.relu(t.model.norm(t.model.body(x))))
            main, aux = t.loss(t.model.head(hidden), y), t.loss(t.model.tail(hidden), y)
        step(t.optimizer, main, aux, 1.0 if number == 4 else 0.0)
    return list(t.model.head.parameters()) + list(t.model.tail.parameters())


def place(t):
    def step(optimizer, main, aux, weight):
        paste

    return train(t, step)


def reference(t):
    def step(optimizer, main, aux, weight):
        (main + weight * aux).backward()
        if not weight:
            t.model.tail.weight.grad = None
            t.got_gradient.discard("tail.weight")
        optimizer.step()

    return train(t, step)
