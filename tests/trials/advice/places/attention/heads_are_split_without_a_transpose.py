"""A classifier with self-attention over three tokens, against a loop over its two heads."""

import math

import torch

SETTINGS = ("plain", "AdamW", "short last batch")


class Classifier(torch.nn.Module):
    def __init__(self, attend):
        super().__init__()
        self.attend = attend
        self.project = torch.nn.Linear(2, 12)
        self.head = torch.nn.Linear(12, 4)

    def forward(self, x):
        q, k, v = self.project(x.view(-1, 3, 2)).chunk(3, dim=-1)
        return self.head(self.attend(q, k, v).flatten(1))


def pasted(q, k, v):
    batch, time, heads = *q.shape[:2], 2
    paste
    return output


def head_by_head(q, k, v):
    outputs = []
    for columns in (slice(0, 2), slice(2, 4)):
        scores = torch.einsum("bif,bjf->bij", q[..., columns], k[..., columns])
        weights = torch.softmax(scores / math.sqrt(2), dim=-1)
        outputs.append(torch.einsum("bij,bjf->bif", weights, v[..., columns]))
    return torch.cat(outputs, dim=-1)


def train(t, attend):
    torch.manual_seed(0)
    t.model = t.watched(Classifier(attend))
    t.groups = [
        {"params": list(t.model.project.parameters()), "lr": 0.1},
        {"params": list(t.model.head.parameters()), "lr": 0.05},
    ]
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    return train(t, pasted)


def reference(t):
    return train(t, head_by_head)
