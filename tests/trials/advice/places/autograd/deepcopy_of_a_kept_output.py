"""A moving average of the weights is begun after the first batch; the kept output is plotted."""

import copy

import torch

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = torch.nn.Linear(6, 8), torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.layer(x))


class Keeping(Plain):
    def forward(self, x):
        paste


def train(t, model):
    t.model = t.watched(model())
    average, plotted = None, []
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(t.model(x), y)
            plotted.append(t.model.features.clone() if model is Keeping else t.model.layer(x))
        loss.backward()
        t.optimizer.step()
        average = average or copy.deepcopy(t.model)
        with torch.no_grad():
            for a, p in zip(average.parameters(), t.model.parameters()):
                a.lerp_(p, 0.5)
    return [t.model.state_dict(), average.state_dict(), plotted]


def place(t):
    return train(t, Keeping)


def reference(t):
    return train(t, Plain)
