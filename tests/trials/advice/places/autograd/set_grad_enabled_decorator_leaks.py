"""Training with a validation after each batch, compared with no_grad() as a context manager."""

import torch

SETTINGS = ("plain", "dropout", "short last batch")


def train(t, define):
    validate, scores = define(), []
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
        output = validate(t.model, x)
        scores += [output.detach(), output.requires_grad]
    return [scores, t.model.state_dict()]


def place(t):
    def define():
        paste
        return validate

    return train(t, define)


def reference(t):
    def validate(model, x):
        with torch.no_grad():
            return model(x)

    return train(t, lambda: validate)
