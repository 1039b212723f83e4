"""A weight-normalized layer whose average is kept, compared with the norm written out."""

import copy
import warnings

import torch

SETTINGS = ("plain", "AdamW", "tensor lr", "bfloat16")


def start(t):
    layer = torch.nn.Linear(6, 4)
    rate = torch.tensor(0.1) if t.setting.tensor_lr else 0.1
    return layer, lambda parameters: getattr(torch.optim, t.setting.optimizer)(parameters, lr=rate)


def place(t):
    layer, optimizer_of = start(t)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        paste
    optimizer, kept = optimizer_of(layer.parameters()), []
    for x, y in t.batches:
        optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(layer(x), y)
        loss.backward()
        optimizer.step()
        kept.append(copy.deepcopy(layer).weight)
    return kept


def reference(t):
    layer, optimizer_of = start(t)
    v = layer.weight.detach().clone().requires_grad_()
    g = v.detach().norm(dim=1, keepdim=True).requires_grad_()
    optimizer, kept = optimizer_of([layer.bias, g, v]), []
    for x, y in t.batches:
        optimizer.zero_grad()
        with t.autocast():
            weight = g * v / v.norm(dim=1, keepdim=True)
            loss = t.loss(torch.nn.functional.linear(x, weight, layer.bias), y)
        loss.backward()
        optimizer.step()
        kept.append((g * v / v.norm(dim=1, keepdim=True)).detach())
    return kept
