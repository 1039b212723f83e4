"""Training that resumes in a model with its own initialization, against the same without it."""

import copy

import torch

SETTINGS = ("plain", "AdamW", "tied", "frozen norm", "accumulation")


def init_weights(module):
    if isinstance(module, torch.nn.Linear):
        torch.nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, torch.nn.BatchNorm1d):
        module.reset_parameters()


def train(t, batches):
    for number, (x, y) in enumerate(batches, 1):
        t.loss(t.model(x), y).backward()
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    t.optimizer.zero_grad()


def resume(t, load):
    train(t, t.batches[:2])
    state = copy.deepcopy(t.model.state_dict())
    with torch.no_grad():
        for p in t.model.parameters():
            p.add_(1)  # the weights of a new process
    load(t.model, state)
    train(t, t.batches[2:])
    return t.model.state_dict()


def place(t):
    def load(model, state):
        paste

    return resume(t, load)


def reference(t):
    return resume(t, lambda model, state: model.load_state_dict(state))
