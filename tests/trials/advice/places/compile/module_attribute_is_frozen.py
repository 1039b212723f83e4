"""A model in training whose scale is raised after the first batch, against one not compiled."""

import torch

REQUIRES = ">=2.1"
SETTINGS = ("plain", "AdamW", "dropout", "short last batch")


class Model(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net, self.scale = net, 1.0

    def forward(self, x):
        return self.net(x) * self.scale


def train(t, model, compiled):
    losses = []
    for batch, label in t.batches:
        loss = t.loss(compiled(batch), label)
        t.optimizer.zero_grad()
        loss.backward()
        t.optimizer.step()
        losses.append(loss.item())
    return [losses, t.model.state_dict(), model.scale]


def place(t):
    model, x, backend = Model(t.model), torch.zeros(4, 6), "eager"
    paste
    return train(t, model, compiled)


def reference(t):
    model = Model(t.model)
    model(torch.zeros(4, 6))
    model.scale = 2.0
    return train(t, model, model)
