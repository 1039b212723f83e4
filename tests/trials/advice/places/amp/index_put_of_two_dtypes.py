"""A mixture of three experts, one of which gets no token, against one that writes nothing by index."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")
TOLERANCE = 0.02


class Experts(torch.nn.Module):
    def __init__(self, write):
        super().__init__()
        self.body, self.head = torch.nn.Linear(6, 6), torch.nn.Linear(6, 4)
        self.experts = torch.nn.ModuleList(torch.nn.Linear(6, 6) for _ in range(3))
        self.write = write

    def forward(self, x):
        chosen = (x[:, 0] > 0).long()
        y = [self.write(x, expert, chosen == n) for n, expert in enumerate(self.experts)]
        self.dtypes = [one.dtype for one in y]
        return self.head(self.body(x) + sum(y))


def write(x, expert, mask):
    paste
    return y


def train(t, write):
    t.model = t.watched(Experts(write))
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(t.model(x), y)
        loss.backward()
        t.optimizer.step()
    return [t.model.state_dict(), t.model.dtypes]


def place(t):
    return train(t, write)


def reference(t):
    def write(x, expert, mask):
        return torch.where(mask[:, None], expert(x).float(), torch.zeros(()))

    return train(t, write)
