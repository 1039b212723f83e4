"""Pictures of several modes in a loader: the batches, and the gradient of a convolution on them."""

import torch
from torch.utils.data import DataLoader, Dataset

SETTINGS = ("plain", "workers", "short last batch")


class Picture:
    """A picture whose pixels count up from `first`."""

    def __init__(self, first, bands=3):
        self.first, self.bands = first, bands
        self.width, self.height = 5, 4

    def convert(self, mode):
        assert mode == "RGB"
        return Picture(self.first)

    def tobytes(self):
        return bytes(range(self.first, self.first + self.width * self.height * self.bands))


def train(t, dataset):
    loader = DataLoader(dataset, batch_size=4, num_workers=t.setting.workers)
    t.model = t.watched(torch.nn.Conv2d(3, 4, 2))
    torch.nn.init.constant_(t.model.weight, 0.01)
    torch.nn.init.zeros_(t.model.bias)
    t.groups = [{"params": [t.model.weight]}, {"params": [t.model.bias], "lr": 0.1}]
    t.groups[0]["lr"] = 0.1
    batches = []
    for x, y in loader:
        batches.append((x, y))
        t.optimizer.zero_grad()
        t.loss(t.model(x).mean((2, 3)), y).backward()
        t.optimizer.step()
    return [batches, t.model.state_dict()]


class Base(Dataset):
    def __init__(self, t):
        rows = 4 + t.setting.last_batch
        self.images = [Picture(n, bands=1 + n % 4) for n in range(rows)]
        self.labels = [n % 4 for n in range(rows)]

    def __len__(self):
        return len(self.images)


def place(t):
    class Pictures(Base):
        paste

    return train(t, Pictures(t))


class Counted(Base):
    def __getitem__(self, index):
        shape, red_green_blue = (4, 5), []
        for band in range(3):
            values = [(index + band + 3 * n) / 255 for n in range(20)]
            red_green_blue.append(torch.tensor(values).view(shape))
        return torch.stack(red_green_blue), self.labels[index]


def reference(t):
    return train(t, Counted(t))
