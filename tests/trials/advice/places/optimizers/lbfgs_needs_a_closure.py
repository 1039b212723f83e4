"""Linear regression, whose last loss is kept; the solution in closed form is the reference."""

import torch

SETTINGS = ("plain", "short last batch")
TOLERANCE = 1e-3


def data(t):
    x = torch.cat([x for x, _ in t.batches])
    return x, x.cos() @ torch.ones(6, 2)


def place(t):
    t.model = t.watched(torch.nn.Linear(6, 2))
    model, loss_fn = t.model, torch.nn.functional.mse_loss
    optimizer = torch.optim.LBFGS(model.parameters())
    x, y = data(t)
    for _ in range(5):
        paste
    return [float(loss), model.weight, model.bias]


def reference(t):
    t.model = t.watched(torch.nn.Linear(6, 2))
    t.model(torch.ones(1, 6)).sum().backward()
    x, y = (each.double() for each in data(t))
    x = torch.cat([x, torch.ones(len(x), 1, dtype=x.dtype)], dim=1)
    solution = torch.linalg.lstsq(x, y).solution
    last = float((x @ solution - y).square().mean())
    return [last, solution[:-1].T.float(), solution[-1].float()]
