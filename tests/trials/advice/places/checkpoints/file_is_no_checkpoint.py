"""Weights of a repository: a pointer, a web page, not there, whole, or in the format before zip."""

import os
import pathlib
import tempfile

import torch

SETTINGS = ("plain",)


def load(url, path):
    paste
    return state


def place(t):
    results = []
    with tempfile.TemporaryDirectory() as folder:
        server, old = pathlib.Path(folder, "server.pt"), pathlib.Path(folder, "old.pt")
        torch.save(t.model.state_dict(), server)
        torch.save({"old": 1}, old, _use_new_zipfile_serialization=False)
        url, whole, pickled = server.as_uri(), server.read_bytes(), old.read_bytes()
        for text in (b"version https://git-lfs", b"<html>", b"", None, whole, pickled):
            path = pathlib.Path(folder, f"weights{len(results)}.pt")
            if text is not None:
                path.write_bytes(text)
            results.append(load(url, path))
    return results


def reference(t):
    return [*[dict(t.model.state_dict())] * 5, {"old": 1}]
