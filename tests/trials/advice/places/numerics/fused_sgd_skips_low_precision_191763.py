"""Two steps of a model in bfloat16, next to the same by hand."""

import torch

SETTINGS = ("plain", "tied", "frozen norm")
REQUIRES = ">=2.4"
TOLERANCE = 2e-2


def losses(t):
    t.model.bfloat16().eval()
    for x, y in t.batches[:2]:
        t.model.zero_grad()
        yield t.loss(t.model(x.bfloat16()), y)


def place(t):
    model = t.model
    for loss in losses(t):
        paste
    return model.state_dict()


def reference(t):
    for loss in losses(t):
        loss.backward()
        with torch.no_grad():
            for parameter in t.model.parameters():
                if parameter.grad is not None:
                    parameter -= parameter.grad
    return t.model.state_dict()
