"""A head over a large vocabulary in float16, in training and in scoring."""

import torch

SETTINGS = ("plain", "AdamW", "short last batch")
TOLERANCE = 1e-4
REQUIRES = ">=2.2"


def train(t, logs_of):
    t.model = t.watched(torch.nn.Linear(6, 80000, bias=False))
    torch.nn.init.normal_(t.model.weight, std=0.02)
    t.groups = [{"params": t.model.parameters(), "lr": 0.01}]
    losses = []
    for x, y in t.batches[:2]:
        t.optimizer.zero_grad()
        logs = logs_of(t.model(x).half())
        loss = -logs.gather(1, y[:, None]).float().mean()
        loss.backward()
        t.optimizer.step()
        losses += [loss.detach(), logs.detach()[:, :9].float()]
    return losses


def place(t):
    def logs_of(logits):
        paste
        return logs

    return train(t, logs_of)


def reference(t):
    def logs_of(logits):
        wide = logits.double()
        return wide - wide.exp().sum(1, keepdim=True).log()

    return train(t, logs_of)
