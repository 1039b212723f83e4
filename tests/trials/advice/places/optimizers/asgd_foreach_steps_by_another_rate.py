"""Five steps of ASGD and its averages, compared with both written out."""

import torch

SETTINGS = ("plain", "tied", "frozen norm", "dropout")


def place(t):
    model = t.model
    paste
    for x, y in t.batches:
        optimizer.zero_grad()
        t.loss(model(x), y).backward()
        optimizer.step()
    trained = [p for p in model.parameters() if p.requires_grad]
    return trained, [optimizer.state[p]["ax"] for p in trained]


def reference(t):
    eta = 0.5
    trained = [p for p in t.model.parameters() if p.requires_grad]
    for number, (x, y) in enumerate(t.batches, start=1):
        t.model.zero_grad()
        t.loss(t.model(x), y).backward()
        with torch.no_grad():
            for parameter in trained:
                parameter -= eta * (parameter.grad + 1.0 * parameter)
        eta = 0.5 / (1 + 1.0 * 0.5 * number) ** 0.75
    return trained, trained  # before step t0, which is 1000000, the average is the weight
