"""Fine-tuning of a head and a norm, against a backbone that is frozen with requires_grad_()."""

import torch

SETTINGS = ("plain", "AdamW", "short last batch")


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone, self.norm = torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8)
        self.head = torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.backbone(x))))


def start(t):
    torch.manual_seed(0)
    t.model = t.watched(Model())
    return t.model


def train(t, model):
    t.groups = [
        {"params": list(t.model.norm.parameters()), "lr": 0.1},
        {"params": [p for p in t.model.backbone.parameters() if p.requires_grad], "lr": 0.1},
        {"params": list(t.model.head.parameters()), "lr": 0.05},
    ]
    for x, y in t.batches * 2:
        t.optimizer.zero_grad()
        t.loss(model(x), y).backward()
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    model = start(t)
    paste
    return train(t, model)


def reference(t):
    model = start(t)
    model.backbone.requires_grad_(False)
    return train(t, model)
