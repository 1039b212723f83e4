"""Two small language models with a tied head, with a bias and without; SGD is written out."""

import torch

SETTINGS = ("plain", "short last batch")


def models():
    for bias in (True, False):
        embedding, head = torch.nn.Embedding(4, 6), torch.nn.Linear(6, 4, bias=bias)
        head.weight = embedding.weight
        yield embedding, head


def place(t):
    seen = []
    for embedding, head in models():
        paste
        for x, y in t.batches:
            optimizer.zero_grad()
            t.loss(head(embedding(y) + x), y).backward()
            optimizer.step()
        seen += head.parameters()
    return seen


def reference(t):
    seen = []
    for embedding, head in models():
        for x, y in t.batches:
            head.zero_grad()
            t.loss(head(embedding(y) + x), y).backward()
            with torch.no_grad():
                for parameter in head.parameters():
                    rate = 0.01 if parameter is embedding.weight else 0.1
                    parameter -= rate * parameter.grad
        seen += head.parameters()
    return seen
