"""A saliency map of a model in training before each prediction, without leftover gradients."""

from copy import deepcopy

import torch

SETTINGS = ("plain", "tied", "frozen norm", "dropout")


def serve(t, explain):
    for x, y in t.batches:
        t.loss(t.model(x), y).backward()  # it has been trained
    t.model.zero_grad(set_to_none=True)
    found = []
    for x, _ in t.batches:
        t.model.train()
        found.append(explain(t.model, x.clone().requires_grad_()))
        found.append(t.model.eval()(x).detach())
    return [found, t.model.state_dict(), [p.grad for p in t.model.parameters()]]


def place(t):
    def explain(model, x):
        paste
        return gradient

    return serve(t, explain)


def reference(t):
    def explain(model, x):
        return torch.autograd.grad(deepcopy(model).eval()(x).sum(), x)[0]

    return serve(t, explain)
