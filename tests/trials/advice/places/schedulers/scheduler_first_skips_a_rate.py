"""Five batches, the learning rate halved after each; the rates are set by hand in the reference."""

import torch

SETTINGS = ("plain", "AdamW", "tensor lr", "frozen norm")


def place(t):
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.groups)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    for x, y in t.batches:
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        paste
    return dict(t.model.named_parameters())


def reference(t):
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.groups)
    for number, (x, y) in enumerate(t.batches):
        for group, rate in zip(optimizer.param_groups, (0.1, 0.05)):
            group["lr"] = rate * 0.5**number
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        optimizer.step()
    return dict(t.model.named_parameters())
