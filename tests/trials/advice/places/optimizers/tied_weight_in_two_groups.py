"""Small language models whose head shares its weight or all its parameters; SGD is written out."""

import torch

SETTINGS = ("plain", "short last batch")


class Encoder(torch.nn.Linear):
    def forward(self, y):
        return super().forward(torch.nn.functional.one_hot(y, 6).float())


def models():
    for bias in (True, False):
        embedding, head = torch.nn.Embedding(4, 6), torch.nn.Linear(6, 4, bias=bias)
        head.weight = embedding.weight
        yield embedding, head
    encoder, decoder = Encoder(6, 6), torch.nn.Linear(6, 6)
    decoder.weight, decoder.bias = encoder.weight, encoder.bias
    yield encoder, decoder


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
                    shared = any(parameter is one for one in embedding.parameters())
                    rate = 0.01 if shared else 0.1
                    parameter -= rate * parameter.grad
        seen += head.parameters()
    return seen
