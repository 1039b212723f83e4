"""A training of five batches, resumed in a new process after the third: the learning rates, and the
weights by SGD, which keeps no state that the fix would have to do without.
"""

import torch
from torch.optim.lr_scheduler import MultiStepLR

SETTINGS = ("plain", "AdamW", "tensor lr")


def parts(t):
    model = torch.nn.Linear(6, 4)
    rates = [torch.tensor(lr) if t.setting.tensor_lr else lr for lr in (0.5, 0.25)]
    groups = [{"params": [p], "lr": lr} for p, lr in zip((model.weight, model.bias), rates)]
    return model, getattr(torch.optim, t.setting.optimizer)(groups, lr=0.1)


def weights(t, model):
    return model.state_dict() if t.setting.optimizer == "SGD" else None


def train(t, model, optimizer, scheduler, batches):
    rates = []
    for x, y in batches:
        rates.append([float(group["lr"]) for group in optimizer.param_groups])
        optimizer.zero_grad()
        t.loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()
    return rates


def place(t):
    model, optimizer = parts(t)
    scheduler = MultiStepLR(optimizer, milestones=[2], gamma=0.1)
    rates = train(t, model, optimizer, scheduler, t.batches[:3])
    kept = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    checkpoint = {"epoch": 2, **{name: part.state_dict() for name, part in kept.items()}}
    model, optimizer = parts(t)
    del scheduler
    paste
    rates += train(t, model, optimizer, scheduler, t.batches[3:])
    return rates, scheduler.last_epoch, weights(t, model)


def reference(t):
    (model, optimizer), rates = parts(t), [[0.5, 0.25]] * 2 + [[0.05, 0.025]] * 3
    for (x, y), now in zip(t.batches, rates):
        for group, rate in zip(optimizer.param_groups, now):
            group["lr"] = rate
        optimizer.zero_grad()
        t.loss(model(x), y).backward()
        optimizer.step()
    return rates, 5, weights(t, model)
