"""A loop that saves after each epoch, and is stopped while it saves the third.

It is stopped while the objects are pickled, or in the moment before a file takes another's name.
A file may take it only when all of it is on the disk.
"""

import contextlib
import os
import pathlib
import tempfile
from unittest import mock

import torch

SETTINGS = ("plain", "AdamW")


class Interrupt:
    def __reduce__(self):
        raise KeyboardInterrupt


def renaming_is_stopped():
    stop = {"side_effect": KeyboardInterrupt}
    return mock.patch.multiple(os, replace=mock.Mock(**stop), rename=mock.Mock(**stop))


@contextlib.contextmanager
def whole_when_renamed(whole):
    synced, fsync, replace = {}, os.fsync, os.replace

    def recorded(number):
        fsync(number)
        synced[os.fstat(number).st_ino] = os.fstat(number).st_size

    def checked(old, new):
        whole.append(synced.get(os.stat(old).st_ino) == os.stat(old).st_size)
        replace(old, new)

    with mock.patch.multiple(os, fsync=recorded, replace=checked):
        yield


def train(t, save, stopped):
    for epoch in range(4):
        for x, y in t.batches:
            t.optimizer.zero_grad()
            t.loss(t.model(x), y).backward()
            t.optimizer.step()
        checkpoint = {"epoch": epoch, "model": t.model.state_dict()}
        if epoch == 2 and stopped == "pickling":
            checkpoint["interrupt"] = Interrupt()
        try:
            with renaming_is_stopped() if epoch == 2 else contextlib.nullcontext():
                save(checkpoint)
        except KeyboardInterrupt:
            return


def place(t):
    with tempfile.TemporaryDirectory() as folder:
        last, whole = [], []
        for path in (pathlib.Path(folder, "last.pt"), f"{folder}/best.pt"):

            def save(checkpoint, path=path):
                paste

            with whole_when_renamed(whole):
                save({"epoch": -1, "model": t.model.state_dict()})
                train(t, save, stopped="pickling" if last else "renaming")
            last.append(torch.load(path))
        return last, all(whole)


def reference(t):
    kept = []
    for stopped in ("renaming", "pickling"):

        def save(checkpoint):
            if checkpoint["epoch"] == 2:
                raise KeyboardInterrupt
            kept.append({**checkpoint, "model": copy(checkpoint["model"])})

        train(t, save, stopped)
    return [kept[1], kept[3]], True


def copy(state):
    return {key: value.clone() for key, value in state.items()}
