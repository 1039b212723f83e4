# ruff: noqa
import torch
from torch.optim import SGD, Adam


def configure(model, kind):
    trainable = filter(lambda p: p.requires_grad, model.parameters())
    print(sum(p.numel() for p in trainable))
    return SGD(trainable, lr=0.1)  # finds parameters_are_used_up


def two(model):
    params = model.parameters()
    first = SGD(params, lr=0.1)
    second = Adam([{"params": params, "lr": 0.1}])  # finds parameters_are_used_up
    return first, second


def looked_at(model):
    params = (p for p in model.parameters() if p.requires_grad)
    for param in params:
        print(param.shape)
    return torch.optim.AdamW(params)  # finds parameters_are_used_up


def kept(model, kind):
    trainable = list(filter(lambda p: p.requires_grad, model.parameters()))
    print(len(trainable), sum(p.numel() for p in trainable))
    return SGD(trainable, lr=0.1)


def looks_at_the_first(model):
    params = model.parameters()
    for param in params:
        print(param.device)
        break
    return SGD(params, lr=0.1)


def branches(model, kind):
    params = model.parameters()
    if kind == "sgd":
        optimizer = SGD(params, lr=0.1)
    elif kind == "adam":
        optimizer = Adam(params)
    return optimizer


def returns(model, kind):
    params = model.parameters()
    if kind == "sgd":
        return SGD(params, lr=0.1)
    return Adam(params)


def again(model):
    params = model.parameters()
    print(sum(p.numel() for p in params))
    params = model.parameters()
    return SGD(params, lr=0.1)
