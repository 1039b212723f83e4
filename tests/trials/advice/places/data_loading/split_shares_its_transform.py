"""Four images, the training ones flipped: what the loaders of both parts deliver."""

import torch
from torch.utils.data import DataLoader, Dataset, random_split  # noqa: F401

SETTINGS = ("plain", "workers")


def augment(image):
    return image.flip(0)


class Images(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 4

    def __getitem__(self, index):
        image = torch.tensor([index, -1])
        return self.transform(image) if self.transform else image


def place(t):
    paste
    workers = t.setting.workers
    loaders = [DataLoader(part, num_workers=workers) for part in (train, val)]
    return [list(loader) for loader in loaders]


def reference(t):
    order = torch.randperm(4).tolist()
    pairs = [torch.tensor([[-1, index]]) for index in order[:3]]
    return [pairs, [torch.tensor([[order[3], -1]])]]
