"""Two epochs with two parameter groups, interrupted after the first or not."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "bfloat16")


def epoch(t, optimizer):
    for x, y in t.batches:
        optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(t.model(x), y)
        loss.backward()
        optimizer.step()


def maker(t):
    options = {"momentum": 0.9} if t.setting.optimizer == "SGD" else {}
    kind = getattr(torch.optim, t.setting.optimizer)

    def make_optimizer(model):
        return kind([{**group} for group in t.groups], lr=0.1, **options)

    return make_optimizer


def restarted(make_optimizer):
    def make_anew(model):
        for p in model.parameters():
            p.data = torch.zeros_like(p)  # new memory: what was saved stays
        return make_optimizer(model)

    return make_anew


def place(t):
    model, make_optimizer = t.model, maker(t)
    optimizer = make_optimizer(model)
    epoch(t, optimizer)
    make_optimizer = restarted(make_optimizer)
    paste
    epoch(t, optimizer)
    return model.state_dict()


def reference(t):
    optimizer = maker(t)(t.model)
    epoch(t, optimizer)
    epoch(t, optimizer)
    return t.model.state_dict()
