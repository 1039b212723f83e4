"""The checkpoint of a run, which somebody unzipped: weights, optimizer state and plain numbers."""

import os
import tempfile
import zipfile

import torch

SETTINGS = ("plain", "AdamW", "tied")


def start(t):
    x, y = t.batches[0]
    t.loss(t.model(x), y).backward()
    t.optimizer.step()
    return {"model": t.model.state_dict(), "optimizer": t.optimizer.state_dict(), "epoch": 3}


def place(t):
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            torch.save(start(t), "archive.pth.tar")
            with zipfile.ZipFile("archive.pth.tar") as file:
                root = file.namelist()[0].split("/")[0]
                file.extractall()
            os.rename(root, "archive") if root != "archive" else None
            paste
        finally:
            os.chdir(here)
    return {key: state[key] for key in sorted(state)}


def reference(t):
    state = start(t)
    return {key: state[key] for key in sorted(state)}
