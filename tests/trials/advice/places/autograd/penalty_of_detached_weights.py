"""A classifier with a penalty on its weights, against a gradient with the sign of each weight."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "bfloat16")
STRENGTH = 0.05


def losses(t):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            output = t.model(x)
        yield t.loss(output.float(), y)


def place(t):
    model, strength, seen = t.model, STRENGTH, []
    for loss in losses(t):
        paste
        loss.backward()
        t.optimizer.step()
        seen.append(loss.detach())
    return [seen, model.state_dict()]


def reference(t):
    seen = []
    for loss in losses(t):
        loss.backward()
        with torch.no_grad():
            norms = [p.abs().sum() for p in t.model.parameters()]
            for p in t.model.parameters():
                if p.grad is not None:
                    p.grad += STRENGTH * p.sign()
        t.optimizer.step()
        seen.append(loss.detach() + STRENGTH * sum(norms))
    return [seen, t.model.state_dict()]
