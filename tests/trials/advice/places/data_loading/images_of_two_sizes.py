"""Images of four sizes, one a chessboard, with their labels, in one batch."""

import torch
from torch.utils.data import DataLoader, Dataset

SETTINGS = ("plain", "workers")


paste


class Images(Dataset):
    def __init__(self):
        sizes = (8, 8), (16, 8), (4, 4)
        self.images = [torch.arange(n * m).view(1, n, m) / 64 for n, m in sizes]
        board = (torch.arange(16)[:, None] + torch.arange(16)) % 2
        self.images.append(board[None].float())
        self.labels = [2, 0, 1, 3]

    def __len__(self):
        return 4

    __getitem__ = __getitem__


def place(t):
    return list(DataLoader(Images(), batch_size=4, num_workers=t.setting.workers))


def weights(pixels):
    """(8, pixels): each new pixel is a mean of the old ones, weighed by a triangle as wide as two."""
    scale = pixels / 8
    away = (torch.arange(8) + 0.5)[:, None] * scale - (torch.arange(pixels) + 0.5)
    found = (1 - away.abs() / max(scale, 1)).clamp(min=0)
    return found / found.sum(1, keepdim=True)


def reference(t):
    images = [weights(one.shape[1]) @ one[0] @ weights(one.shape[2]).T for one in Images().images]
    return [[torch.stack(images)[:, None], torch.tensor([2, 0, 1, 3])]]
