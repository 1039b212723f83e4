"""Five batches, the first of which overflows; its step is skipped, and the schedule waits."""

import torch

SETTINGS = ("plain", "AdamW", "tensor lr", "dropout")
REQUIRES = ">=2.3"


def place(t):
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.groups)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    scaler = torch.amp.GradScaler("cpu", growth_interval=2)
    for number, (x, y) in enumerate(t.batches):
        optimizer.zero_grad()
        loss = t.loss(t.model(x), y) * (1.0 if number else 1e36)
        scaler.scale(loss).backward()
        paste
    return [float(rate) for rate in scheduler.get_last_lr()], dict(t.model.named_parameters())


def reference(t):
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.groups)
    for number, (x, y) in enumerate(t.batches):
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        if number:
            optimizer.step()
            for group in optimizer.param_groups:
                group["lr"] = group["lr"] * 0.5
    rates = [float(group["lr"]) for group in optimizer.param_groups]
    return rates, dict(t.model.named_parameters())
