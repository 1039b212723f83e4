"""Five batches with a tensor as learning rate; what was logged, read when all is done."""

import torch

SETTINGS = ("plain", "AdamW", "tensor lr", "bfloat16")


def start(t):
    t.setting.tensor_lr or t.groups[0].update(lr=torch.tensor(0.1))
    return getattr(torch.optim, t.setting.optimizer)(t.groups)


def place(t):
    optimizer, history = start(t), []
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    for x, y in t.batches:
        optimizer.zero_grad()
        with t.autocast():
            t.loss(t.model(x), y).backward()
        optimizer.step()
        paste
        scheduler.step()
    return [float(rate) for rate in history]


def reference(t):
    optimizer = start(t)
    for number, (x, y) in enumerate(t.batches):
        for group, rate in zip(optimizer.param_groups, (0.1, 0.05)):
            group["lr"] = rate * 0.5**number
        optimizer.zero_grad()
        with t.autocast():
            t.loss(t.model(x), y).backward()
        optimizer.step()
    return [0.1 * 0.5**number for number in range(5)]
