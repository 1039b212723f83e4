"""Training whose first step overflows and is skipped, against one that leaves that batch out."""

import torch

SETTINGS = ("plain", "tied", "dropout")
REQUIRES = ">=2.4"


def train(t, optimizer, step):
    torch.set_deterministic_debug_mode("error")  # new memory is filled with NaN
    try:
        for number, (x, y) in enumerate(t.batches):
            optimizer.zero_grad()
            step(t.loss(t.model(x), y), float("inf") if number == 0 else 0.1)
    finally:
        torch.set_deterministic_debug_mode("default")
    return t.model.state_dict()


def place(t):
    model, scaler = t.model, torch.amp.GradScaler("cpu")
    paste

    def step(loss, factor):
        scaler.scale(loss * factor).backward()
        scaler.step(optimizer)
        scaler.update()

    return train(t, optimizer, step)


def reference(t):
    optimizer = torch.optim.SGD(t.model.parameters(), lr=1.0, momentum=0.9)

    def step(loss, factor):
        if factor < 1:
            (loss * factor).backward()
            optimizer.step()

    return train(t, optimizer, step)
