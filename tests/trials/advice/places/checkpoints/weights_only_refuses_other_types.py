"""A run that saves its options, including a path, and resumes from the file."""

import argparse
import pathlib
import tempfile

import torch

SETTINGS = ("plain", "tied", "frozen norm")


def place(t):
    model = t.model
    args = argparse.Namespace(lr=0.1, data=pathlib.Path("data"), kind=int)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "last.pt")
        paste
        return [checkpoint["args"], checkpoint["args"].lr, dict(checkpoint["model"])]


def reference(t):
    args = argparse.Namespace(lr=0.1, data=pathlib.Path("data"), kind=int)
    return [args, 0.1, dict(t.model.state_dict())]
