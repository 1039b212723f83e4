"""An optimizer by hand whose update is compiled, over layers of many sizes, against torch's SGD."""

import torch

REQUIRES = ">=2.3"
SETTINGS = ("plain", "tied", "short last batch")


def train(t, step):
    layers = [torch.nn.Linear(n, n + 1, bias=False) for n in range(6, 16)]
    model = t.model = t.watched(torch.nn.Sequential(*layers, torch.nn.Linear(16, 4, bias=False)))
    if t.setting.tied:
        model.append(torch.nn.Linear(4, 16, bias=False)).append(torch.nn.Linear(16, 4, bias=False))
        model[-1].weight = model[-3].weight
    for x, y in t.batches:
        model.zero_grad()
        t.loss(model(x), y).backward()
        step(model)
    return model.state_dict()


def place(t):
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    update = torch.compile(lambda p, grad: p.sub_(grad, alpha=0.1), backend=backend)

    def step(model):
        paste

    return [train(t, step), len(graphs) < 5]


def reference(t):
    return [train(t, lambda model: torch.optim.SGD(model.parameters(), lr=0.1).step()), True]
