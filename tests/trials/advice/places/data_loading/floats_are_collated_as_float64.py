"""A regression on six prices a row, compared with the same numbers as float32 from the start;
and what they are where another dtype is the default."""

import torch
from torch.utils.data import DataLoader, Dataset

SETTINGS = ("plain", "workers", "bfloat16")


paste


class Prices(Dataset):
    prices = [0.1 * n - 1 for n in range(24)]

    def __len__(self):
        return 24

    __getitem__ = __getitem__


def train(t, batches):
    for x in batches:
        t.optimizer.zero_grad()
        with t.autocast():
            output = t.model(x.view(2, 6))
        t.loss(output.float(), torch.tensor([0, 1])).backward()
        t.optimizer.step()
    return t.model.state_dict(), x.dtype


def place(t):
    options = {"batch_size": 12, "num_workers": t.setting.workers}
    trained = train(t, DataLoader(Prices(), **options))
    torch.set_default_dtype(torch.bfloat16)
    try:
        return trained, [x.dtype for x in DataLoader(Prices(), **options)]
    finally:
        torch.set_default_dtype(torch.float32)


def reference(t):
    return train(t, torch.tensor(Prices.prices).view(2, 12)), [torch.bfloat16] * 2
