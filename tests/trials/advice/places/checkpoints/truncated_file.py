"""Weights that are downloaded once and used in every run: cut off, empty, not there, or whole.

A whole file has other weights than the server's, or something that newer releases refuse to load.
"""

import argparse
import os
import pathlib
import pickle
import tempfile

import torch

SETTINGS = ("plain",)


def saved(folder, content, **options):
    path = pathlib.Path(folder, "saved.pt")
    torch.save(content, path, **options)
    return path.read_bytes()


def files(t, folder):
    """What the server has, and what is in the files here."""
    state = t.model.state_dict()
    new, old = (saved(folder, state, _use_new_zipfile_serialization=new) for new in (True, False))
    whole = saved(folder, {"weight": torch.ones(3)})
    refused = saved(folder, {"options": argparse.Namespace(rate=0.1)})
    cut = [new[:-100], new[:40], new[:2], b"", *(old[:n] for n in (1, 19, 300, -10))]
    return new, [*cut, None], [whole, refused]


def place(t):
    results = []
    with tempfile.TemporaryDirectory() as folder:
        server = pathlib.Path(folder, "server.pt")
        new, cut, whole = files(t, folder)
        server.write_bytes(new)
        url = server.as_uri()
        for number, content in enumerate(cut + whole):
            path = pathlib.Path(folder, f"{number}.pt")
            if content is not None:
                path.write_bytes(content)
            try:
                paste
            except pickle.UnpicklingError:
                state = "refused"
            results.append([state, path.read_bytes()])
        return [results, len(os.listdir(folder))]


def reference(t):
    with tempfile.TemporaryDirectory() as folder:
        new, cut, whole = files(t, folder)
        results = [[dict(t.model.state_dict()), new] for _ in cut]
        for content in whole:
            path = pathlib.Path(folder, "whole.pt")
            path.write_bytes(content)
            try:
                results.append([torch.load(path), content])
            except pickle.UnpicklingError:
                results.append(["refused", content])
        return [results, len(cut) + 4]  # whole ones, the server's, and saved.pt
