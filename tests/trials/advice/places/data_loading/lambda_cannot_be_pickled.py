"""Rows through a collate_fn, in this process, in forked workers, and sent to another process."""

import pickle

from torch.utils.data import DataLoader

SETTINGS = ("plain", "workers")


def place(t):
    rows = [1, "a", {"id": 2}]
    paste
    sent = pickle.loads(pickle.dumps(loader.collate_fn))
    loaders = [
        DataLoader(rows, num_workers=t.setting.workers, collate_fn=one)
        for one in (loader.collate_fn, sent)
    ]
    return [list(loader) for loader in loaders]


def reference(t):
    return [[1, "a", {"id": 2}]] * 2
