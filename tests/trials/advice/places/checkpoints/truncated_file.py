"""Weights that are downloaded once and used in every run: cut off, empty, not there, or whole."""

import os
import pathlib
import tempfile

import torch

SETTINGS = ("plain",)


def place(t):
    results = []
    with tempfile.TemporaryDirectory() as folder:
        server = pathlib.Path(folder, "server.pt")
        torch.save(t.model.state_dict(), server)
        url = server.as_uri()
        for bytes_there in (-100, 40, 0, None):
            path = pathlib.Path(folder, f"weights{bytes_there}.pt")
            if bytes_there is not None:
                path.write_bytes(server.read_bytes()[:bytes_there])
            paste
            results.append(state)
        results.append(sorted(os.listdir(folder)))
    return results


def reference(t):
    names = ["server.pt", *(f"weights{end}.pt" for end in (-100, 40, 0, None))]
    return [dict(t.model.state_dict())] * 4 + [sorted(names)]
