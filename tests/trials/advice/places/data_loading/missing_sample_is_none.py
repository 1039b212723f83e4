"""Images, some of which cannot be read, with noise added when they are: two epochs.

The first that is read opens the file, and a forked worker has to open its own.
"""

import copy  # noqa: F401
import os

import torch
from torch.utils.data import DataLoader, Dataset

SETTINGS = ("plain", "workers")


class Images(Dataset):
    opened_by = None

    def __len__(self):
        return 9

    def __getitem__(self, index):
        if index in (2, 3, 8):
            return None
        self.opened_by = self.opened_by or os.getpid()
        own = self.opened_by == os.getpid()
        return {"image": index + torch.rand(2, 2) / 2, "label": index, "own": own}


def place(t):
    dataset = Images()
    paste
    drawn = torch.rand(1)  # such as the initial weights
    collate = loader.collate_fn
    loader = DataLoader(
        loader.dataset, loader.batch_size, num_workers=t.setting.workers, collate_fn=collate
    )
    epochs = [list(loader) for _ in range(2)]
    labels = [[batch["label"] for batch in epoch] for epoch in epochs]
    images = [torch.cat([batch["image"] for batch in epoch]) for epoch in epochs]
    same = [image.floor()[:, 0, 0] for image in images]
    own = all(batch["own"].all() for epoch in epochs for batch in epoch)
    return labels, same, bool((images[0] == images[1]).any()), drawn, own


def reference(t):
    labels = [torch.tensor(pair) for pair in ([0, 1], [4, 5], [6, 7])]
    return [labels, labels], [torch.cat(labels).float()] * 2, False, torch.rand(1), True
