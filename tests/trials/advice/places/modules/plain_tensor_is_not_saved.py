"""A model that measures the mean of its inputs, is saved, and predicts from the file."""

import io

import torch
from torch import nn

SETTINGS = ("plain",)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        paste
        self.head = nn.Linear(2, 3)

    def forward(self, x):
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(0)
        return self.head(x - self.mean)


def train(t):
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for x, _ in t.batches:
        optimizer.zero_grad()
        model(x[:, :2]).square().mean().backward()
        optimizer.step()
    return model.eval()


def place(t):
    model, file = train(t), io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    loaded = Net().eval()
    loaded.load_state_dict(torch.load(file))
    return [loaded(x[:, :2]) for x, _ in t.batches] + [len(list(loaded.parameters()))]


def reference(t):
    torch.manual_seed(0)
    head, mean = nn.Linear(2, 3), torch.zeros(2)
    optimizer = torch.optim.AdamW(head.parameters(), lr=0.1)
    for x, _ in t.batches:
        mean = 0.9 * mean + 0.1 * x[:, :2].mean(0)
        optimizer.zero_grad()
        head(x[:, :2] - mean).square().mean().backward()
        optimizer.step()
    return [head(x[:, :2] - mean) for x, _ in t.batches] + [2]
