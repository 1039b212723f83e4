"""A compiled model in bfloat16 that counts its steps past 256, against one that is not compiled."""

import torch

REQUIRES = ">=2.1"


class Model(torch.nn.Module):
    paste


class Reference(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.step = layer, 0

    def forward(self, x):
        self.step += 1
        return self.layer(x)


def train(t, kind, compiled):
    model = kind(torch.nn.Linear(6, 4)).to(torch.bfloat16)
    t.model, seen = t.watched(model), []
    forward = compiled(model)
    for number in range(300):
        x, y = t.batches[number % 5]
        t.optimizer.zero_grad()
        loss = t.loss(forward(x.bfloat16()).float(), y)
        loss.backward()
        t.optimizer.step()
        seen.append(loss.item())
    model.load_state_dict(kind(torch.nn.Linear(6, 4)).state_dict())  # of an older checkpoint
    return [int(model.step), seen]


def place(t):
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    result = train(t, Model, lambda model: torch.compile(model, backend=backend))
    return [*result, len(graphs) < 5]


def reference(t):
    return [*train(t, Reference, lambda model: model), True]
