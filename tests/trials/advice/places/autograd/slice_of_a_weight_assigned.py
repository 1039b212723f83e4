"""Pretrained vectors in an embedding that is trained further, compared with from_pretrained()."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "bfloat16")


def train(t, embedding):
    head = torch.nn.Linear(8, 4 if not t.setting.tied else 5, bias=False)
    if t.setting.tied:
        head.weight = embedding.weight
    t.model = t.watched(torch.nn.Sequential(embedding, head).to(t.setting.dtype))
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.model.parameters(), lr=0.1)
    for row in ([0, 1], [4, 0], [2, 0]):
        loss = t.loss(t.model(torch.tensor(row)).float(), torch.tensor([1, 3]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return t.model.state_dict()


def start():
    return torch.randn(5, 8), torch.randn(8)


def place(t):
    table, vector = start()
    embedding = torch.nn.Embedding.from_pretrained(table, freeze=False)
    paste
    return train(t, embedding)


def reference(t):
    table, vector = start()
    rows = torch.stack([vector, *table[1:]])
    return train(t, torch.nn.Embedding.from_pretrained(rows, freeze=False))
