"""The gradient of edited activations in a model that is trained, against central differences."""

import torch

SETTINGS = ("plain", "AdamW", "short last batch")


def train(t, edit):
    model, gradients = t.model.double(), []
    for x, y in t.batches:
        hidden = model.body(x.double())
        loss, gradient = edit(hidden, lambda h: t.loss(model.head(h), y))
        gradients.append(gradient)
        t.optimizer.zero_grad()
        loss.backward()
        t.optimizer.step()
    return gradients


def place(t):
    def edit(x, tail):
        x = x * 1
        paste
        loss = tail(x)
        loss.backward(retain_graph=True)
        return loss, x.grad.clone()

    return train(t, edit)


def reference(t):
    def edit(x, tail):
        factor = torch.ones_like(x)
        factor[:1] = 3
        x = x * factor
        steps = 1e-5 * torch.eye(x.numel(), dtype=x.dtype).view(-1, *x.shape)
        with torch.no_grad():
            slopes = [(tail(x + step) - tail(x - step)) / 2e-5 for step in steps]
        return tail(x), torch.stack(slopes).view_as(x)

    return train(t, edit)
