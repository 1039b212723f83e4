"""Weight decay for the weights alone, against SGD written out."""

import torch

SETTINGS = ("plain", "tied", "frozen norm", "dropout", "short last batch")


def place(t):
    model = t.model
    paste
    for x, y in t.batches:
        optimizer.zero_grad()
        t.loss(model(x), y).backward()
        optimizer.step()
    return model.state_dict()


def reference(t):
    for x, y in t.batches:
        t.model.zero_grad()
        t.loss(t.model(x), y).backward()
        with torch.no_grad():
            for name, parameter in t.model.named_parameters():
                if parameter.requires_grad:
                    decay = 0.01 * parameter if "weight" in name else 0
                    parameter -= 0.1 * (parameter.grad + decay)
    return t.model.state_dict()
