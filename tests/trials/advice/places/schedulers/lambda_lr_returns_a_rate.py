"""Four epochs of a network; the learning rate of each epoch, compared with the formula."""

import torch

SETTINGS = ("plain", "dropout", "frozen norm", "tied")


def place(t):
    model, rates = t.model, []
    paste
    for _ in range(4):
        rates += [group["lr"] for group in optimizer.param_groups]  # noqa: F821
        for x, y in t.batches:
            optimizer.zero_grad()  # noqa: F821
            t.loss(model(x), y).backward()
            optimizer.step()  # noqa: F821
        scheduler.step()  # noqa: F821
    return [rates, model.state_dict()]


def reference(t):
    model, rates = t.model, [0.1 * 0.9**epoch for epoch in range(4)]
    for rate in rates:
        for x, y in t.batches:
            for parameter in model.parameters():
                parameter.grad = None
            t.loss(model(x), y).backward()
            with torch.no_grad():
                for parameter in model.parameters():
                    if parameter.grad is not None:
                        parameter -= rate * parameter.grad
    return [rates, model.state_dict()]
