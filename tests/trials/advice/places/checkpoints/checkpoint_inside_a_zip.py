"""Weights in a zip archive: at its top, in a folder, and beside other files."""

import os
import tempfile
import zipfile

import torch

SETTINGS = ("plain", "tied")


def load(path):
    paste
    return dict(state)


def place(t):
    results = []
    with tempfile.TemporaryDirectory() as folder:
        weights, path = os.path.join(folder, "weights.pth"), os.path.join(folder, "weights.zip")
        torch.save(t.model.state_dict(), weights)
        for name in ("weights.pth", "models/weights.pth"):
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("README.md", "How to use them")
                archive.write(weights, name)
            results.append(load(path))
    return results


def reference(t):
    return [{name: value.clone() for name, value in t.model.state_dict().items()}] * 2
