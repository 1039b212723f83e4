"""A classifier whose loss has no reduction, compared with the built-in mean."""

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "dropout", "accumulation", "short last batch")


def train(t, backward):
    model = t.model.double()
    for number, (x, y) in enumerate(t.batches):
        backward(model, x.double(), y)
        if (number + 1) % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return model.state_dict()


def place(t):
    def backward(model, x, y):
        paste

    return train(t, backward)


def reference(t):
    return train(t, lambda model, x, y: torch.nn.CrossEntropyLoss()(model(x), y).backward())
