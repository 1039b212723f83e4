"""A run that continues in two copies, compared with copies made through a file."""

import copy
import io

import torch

SETTINGS = ("plain", "AdamW", "tensor lr", "tied", "frozen norm")


def step(t, model, optimizer, number):
    x, y = t.batches[number]
    optimizer.zero_grad()
    t.loss(model(x), y).backward()
    optimizer.step()


def train(t, transfer):
    source = t.optimizer
    step(t, t.model, source, 0)
    other = copy.deepcopy(t.model)
    trained = [p for p in other.parameters() if p.requires_grad]
    clone = type(source)([{"params": trained[:2]}, {"params": trained[2:]}], lr=0.3)
    transfer(source, clone)
    for number in (1, 2):
        step(t, other, clone, number)
    for group in clone.param_groups:
        group["lr"] *= 0.5
    for number in (3, 4):
        step(t, t.model, source, number)
        step(t, other, clone, number)
    return [t.model.state_dict(), other.state_dict(), float(clone.param_groups[1]["lr"])]


def place(t):
    def transfer(source, clone):
        paste

    return train(t, transfer)


def reference(t):
    def transfer(source, clone):
        file = io.BytesIO()
        torch.save(source.state_dict(), file)
        file.seek(0)
        clone.load_state_dict(torch.load(file))

    return train(t, transfer)
