"""A run of six epochs that is stopped twice; its best weights, compared with those of one run."""

import os
import tempfile

import torch

SETTINGS = ("plain", "AdamW", "tied", "dropout")
SCORES = [0.2, 0.9, 0.5, 0.7, 0.95, 0.6]


def train_and_validate_in(t):
    def train_and_validate(epoch):
        for x, y in t.batches:
            t.optimizer.zero_grad()
            t.loss(t.model(x), y).backward()
            t.optimizer.step()
        return SCORES[epoch]

    return train_and_validate


def place(t):
    model, optimizer, kept = t.model, t.optimizer, []
    train_and_validate = train_and_validate_in(t)
    with tempfile.TemporaryDirectory() as folder:
        last, best_path = os.path.join(folder, "last.pt"), os.path.join(folder, "best.pt")
        checkpoint = {"epoch": -1, "best": 0.0}
        for epochs in (2, 4, 6):
            if os.path.exists(last):
                checkpoint = torch.load(last)
                model.load_state_dict(checkpoint["model"])
                optimizer.load_state_dict(checkpoint["optimizer"])
            paste
            kept.append(torch.load(best_path))
    return [kept, model.state_dict()]


def reference(t):
    train_and_validate, states, kept = train_and_validate_in(t), [], []
    for epoch in range(6):
        train_and_validate(epoch)
        states.append({key: value.clone() for key, value in t.model.state_dict().items()})
        if epoch % 2:
            kept.append(states[max(range(epoch + 1), key=SCORES.__getitem__)])
    return [kept, t.model.state_dict()]
