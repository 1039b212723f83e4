"""A classifier on pretrained vectors, against vectors that are a plain parameter."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "accumulation", "short last batch")


def run(t, weight, look_up, vectors):
    head = nn.Linear(3, 4)
    optimizer = getattr(torch.optim, t.setting.optimizer)(
        [{"params": [weight], "lr": 0.1}, {"params": head.parameters(), "lr": 0.05}]
    )
    for number, (x, y) in enumerate(t.batches * 2, 1):
        tokens = (x[:, :5] > 0) * torch.arange(5)
        t.loss(head(look_up(tokens).mean(1)), y).backward()
        if number % t.setting.window == 0:
            optimizer.step()
            optimizer.zero_grad()
    return [weight.detach(), head.state_dict(), vectors]


def place(t):
    torch.manual_seed(0)
    vectors = torch.randn(5, 3)
    paste
    return run(t, embedding.weight, embedding, vectors)


def reference(t):
    torch.manual_seed(0)
    vectors = torch.randn(5, 3)
    weight = nn.Parameter(vectors + 0)
    return run(t, weight, lambda tokens: weight[tokens], vectors)
