"""A classifier of flowers in millimetres with one constant column, against standardized columns."""

import torch

SETTINGS = ("plain", "short last batch")
TOLERANCE = 1e-2


def start(t):
    torch.manual_seed(0)
    layers = torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)
    t.model = t.watched(torch.nn.Sequential(*layers))
    centers = torch.tensor([[50.0, 34.0, 15.0], [59.0, 28.0, 43.0], [66.0, 30.0, 56.0]])
    y = torch.arange(60) % 3
    x = centers[y] + torch.sin(torch.arange(180.0).view(60, 3))
    return t.model, torch.cat([x, torch.full((60, 1), 7.0)], dim=1), y


def train(model, optimizer, x, y):
    for _ in range(30):
        for rows in torch.arange(len(x)).split(16):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()


def place(t):
    model, x, y = start(t)
    paste
    return [predicted, model.state_dict()]


def reference(t):
    model, x, y = start(t)
    centered = x[:, :3] - x[:, :3].sum(0) / 60
    scaled = centered / (centered.square().sum(0) / 59).sqrt()
    scaled = torch.cat([scaled, torch.zeros(60, 1)], dim=1)
    train(model, torch.optim.SGD(model.parameters(), lr=0.1), scaled, y)
    return [y, model.state_dict()]
