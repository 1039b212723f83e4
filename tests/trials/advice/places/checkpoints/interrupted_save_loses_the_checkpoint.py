"""A loop that saves after each epoch, and is stopped while it saves the third."""

import pathlib
import tempfile

import torch

SETTINGS = ("plain", "AdamW")


class Interrupt:
    def __reduce__(self):
        raise KeyboardInterrupt


def train(t, save):
    for epoch in range(4):
        for x, y in t.batches:
            t.optimizer.zero_grad()
            t.loss(t.model(x), y).backward()
            t.optimizer.step()
        checkpoint = {"epoch": epoch, "model": t.model.state_dict()}
        if epoch == 2:
            checkpoint["interrupt"] = Interrupt()
        try:
            save(checkpoint)
        except KeyboardInterrupt:
            return


def place(t):
    with tempfile.TemporaryDirectory() as folder:
        for path in (pathlib.Path(folder, "last.pt"), f"{folder}/best.pt"):  # noqa: B007

            def save(checkpoint):
                paste

            save({"epoch": -1, "model": t.model.state_dict()})
        train(t, save)
        return torch.load(path)


def reference(t):
    kept = []
    train(t, lambda checkpoint: kept.append({**checkpoint, "model": copy(checkpoint["model"])}))
    return kept[1]


def copy(state):
    return {key: value.clone() for key, value in state.items()}
