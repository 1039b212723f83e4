"""A model with frozen layers, whose parameters are counted before it is trained."""

from torch.optim import SGD

SETTINGS = ("plain", "tied", "frozen norm")


def train(t, optimizer, count):
    for x, y in t.batches:
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        optimizer.step()
    return [count, t.model.state_dict()]


def place(t):
    model = t.model
    model.body.requires_grad_(False)
    paste
    return train(t, optimizer, count)


def reference(t):
    t.model.body.requires_grad_(False)
    parts = [t.model.head, t.model.norm, t.model.tail]
    named = {id(p): p for part in parts for p in part.parameters() if p.requires_grad}
    return train(t, SGD([*named.values()], lr=0.1), sum(p.nelement() for p in named.values()))
