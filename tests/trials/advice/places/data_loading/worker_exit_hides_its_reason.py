"""A dataset with a missing row, and a training that skips to the next epoch after an error."""

import sys  # noqa: F401
import time

from torch.utils.data import DataLoader, Dataset

SETTINGS = ("plain", "workers")


class Images(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        time.sleep(0.05)
        paste
        return image


def place(t):
    said = []
    for images in ([0, 1, None, 3], [4, 5]):
        try:
            loader = DataLoader(Images(images), num_workers=t.setting.workers)
            said.append([batch.item() for batch in loader])
        except (FileNotFoundError, RuntimeError) as error:
            said.append("image 2 is missing" in str(error))
    return said


def reference(t):
    return [True, [4, 5]]
