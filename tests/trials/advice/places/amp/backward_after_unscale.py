"""A loss and a penalty on the weights, each with a backward() of its own, and clipping."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "short last batch")


def train(t, step):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        step(t.loss(t.model(x), y), sum(p.square().sum() for p in t.model.head.parameters()))
    return t.model.state_dict()


def place(t):
    model, optimizer = t.model, t.optimizer
    scaler = torch.amp.GradScaler("cpu")

    def step(loss, penalty):
        paste

    return train(t, step)


def reference(t):
    def step(loss, penalty):
        (loss + penalty).backward()
        torch.nn.utils.clip_grad_norm_(t.model.parameters(), max_norm=1.0)
        t.optimizer.step()

    return train(t, step)
