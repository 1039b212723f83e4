"""Fine-tuning behind a frozen backbone, with a LoRA layer that is merged in eval mode."""

from copy import deepcopy

import torch

SETTINGS = ("plain", "AdamW", "tied", "dropout", "short last batch")


class LoRA(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 8), requires_grad=False)
        self.a = torch.nn.Parameter(torch.randn(2, 8))
        self.b = torch.nn.Parameter(torch.zeros(4, 2))
        self.merged = False

    def train(self, mode=True):
        super().train(mode)
        if self.merged == mode:
            self.weight.data += (-1 if mode else 1) * self.b.data @ self.a.data
            self.merged = not mode
        return self

    def forward(self, x):
        weight = self.weight if self.merged else self.weight + self.b @ self.a
        return x @ weight.t()


class Net(torch.nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.backbone = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8))
        self.backbone.requires_grad_(False)
        self.dropout = torch.nn.Dropout(dropout)
        self.head = LoRA()

    def forward(self, x):
        return self.head(self.dropout(self.backbone(x)))


def fine_tune(t, validation):
    t.model = t.watched(Net(t.setting.dropout))
    t.groups = [{"params": [t.model.head.a], "lr": 0.1}, {"params": [t.model.head.b], "lr": 0.2}]
    scores = []

    def validate(model):
        with torch.no_grad():
            scores.append(model(t.batches[0][0]))

    for _ in range(2):
        validation(t.model, validate)
        for x, y in t.batches:
            t.optimizer.zero_grad()
            t.loss(t.model(x), y).backward()
            t.optimizer.step()
    return [scores, t.model.state_dict()]


def place(t):
    def validation(model, validate):
        paste

    return fine_tune(t, validation)


def reference(t):
    def validation(model, validate):
        validate(deepcopy(model).eval())
        model.backbone.eval()

    return fine_tune(t, validation)
