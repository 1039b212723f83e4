"""Two bad batches, and a good one after each: only the last good step may be left of them."""

import copy  # noqa: F401

import torch

SETTINGS = ("plain", "AdamW", "tensor lr", "tied", "frozen norm", "bfloat16")


def stepper(t):
    def train_step(model, optimizer, x, y):
        optimizer.zero_grad()
        with t.autocast():
            t.loss(model(x), y).backward()
        optimizer.step()

    return train_step


def place(t):
    model, optimizer, train_step = t.model, t.optimizer, stepper(t)
    train_step(t.model, t.optimizer, *t.batches[0])
    bad = [(x * float("nan"), y) for x, y in t.batches]
    batches = [t.batches[1], bad[2], t.batches[3], bad[0], t.batches[4]]
    paste
    return model.state_dict()


def reference(t):
    train_step = stepper(t)
    train_step(t.model, t.optimizer, *t.batches[0])
    train_step(t.model, t.optimizer, *t.batches[4])
    return t.model.state_dict()
