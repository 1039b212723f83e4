"""A classifier of small images, trained and saved."""

import torch
from torch import nn
from torch.nn import Conv2d, Linear, Sequential

SETTINGS = ("plain", "AdamW", "bfloat16")


def train(t, model, layers):
    optimizer = getattr(torch.optim, t.setting.optimizer)(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(1)
    for _, y in t.batches:
        x = torch.rand(len(y), 3, 4, 4, generator=generator)
        optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(model(x), y)
        loss.backward()
        optimizer.step()
    return [value for layer in layers(model) for value in layer.state_dict().values()]


def place(t):
    torch.manual_seed(0)
    paste
    return train(t, model, lambda model: (model[0], model[-1]))


class ByHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = Conv2d(3, 8, 1)
        self.head = Linear(8 * 4 * 4, 5)

    def forward(self, x):
        return torch.stack([self.head(one.reshape(-1)) for one in self.convolution(x)])


def reference(t):
    torch.manual_seed(0)
    return train(t, ByHand(), lambda model: (model.convolution, model.head))


TOLERANCE = 0.01
