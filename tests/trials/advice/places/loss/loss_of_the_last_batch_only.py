"""A network is trained and evaluated in turn, against the loss of all rows at once."""

import torch

SETTINGS = ("plain", "AdamW", "dropout", "short last batch")


def run(t, evaluate):
    losses = []
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
        t.model.eval()
        with torch.no_grad():
            losses.append(float(evaluate()))
        t.model.train()
    return [losses, t.model.state_dict()]


def place(t):
    model, criterion, loader = t.model, torch.nn.CrossEntropyLoss(), t.batches

    def evaluate():
        paste
        return validation_loss  # noqa: F821

    return run(t, evaluate)


def reference(t):
    def evaluate():
        x, y = (torch.cat(parts) for parts in zip(*t.batches))
        return -t.model(x).log_softmax(1)[range(len(y)), y].mean()

    return run(t, evaluate)
