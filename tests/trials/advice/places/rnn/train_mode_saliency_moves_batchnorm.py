"""A model that is served: a saliency between two predictions."""

from copy import deepcopy

import torch

SETTINGS = ("plain", "tied", "frozen norm", "dropout")


def serve(t, explain):
    for x, y in t.batches:
        t.loss(t.model(x), y).backward()  # it has been trained
    t.model.zero_grad(set_to_none=True)
    t.model.eval()
    found = []
    for x, _ in t.batches:
        found += [explain(t.model, x.clone().requires_grad_()), t.model(x).detach()]
    return [found, t.model.state_dict()]


def place(t):
    def explain(model, x):
        paste
        return gradient

    return serve(t, explain)


def reference(t):
    def explain(model, x):
        return torch.autograd.grad(deepcopy(model)(x).sum(), x)[0]

    return serve(t, explain)
