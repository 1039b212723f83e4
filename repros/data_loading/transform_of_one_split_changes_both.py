# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Setting val.dataset.transform after random_split turns off augmentation in training too"
# kind = "silent"
# symptom = "the training row is not augmented"
# origin = "usage"
# documents = [
#     "https://github.com/torchgeo/torchgeo/pull/257",
#     "https://github.com/growingnet/gromo/pull/58",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/dataset.py",
# ]
# wrong = '''
# train, val = random_split(Images(transform=augment), [3, 1])
# val.dataset.transform = None
# '''
# right = '''
# train, val = random_split(Images(transform=augment), [3, 1])
# val.dataset = Images(transform=None)
# '''
# rule = "error"
# affected = { cpu = ">=1.13" }
# ///
"""The attributes train.dataset and val.dataset are the same object (torch/utils/data/dataset.py).
The assignment is meant for validation, as advised in torchgeo/torchgeo#257, but also removes the
augmentation from training (growingnet/gromo#58). Give the validation Subset its own dataset, which
has to list its files in the same order. With persistent_workers=True, assign this dataset before
the loader's first epoch. If there is a test part too, assign the new dataset to test.dataset as
well; otherwise its images stay augmented.

The corrected code assumes a single split into all parts. After a second split, val.dataset is
itself a part, and val.indices would select other rows of the whole dataset.
"""

import torch
from torch.utils.data import Dataset, random_split


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


def check(train, val):
    if train[0][0] != -1:
        return "the training row is not augmented"
    rows = [int(image[1]) for image in train] + [int(image[0]) for image in val]
    if sorted(rows) != [0, 1, 2, 3]:
        return f"rows {rows} instead of each once, those of training augmented"


def reproduce(device):
    train, val = random_split(Images(transform=augment), [3, 1])
    val.dataset.transform = None
    return check(train, val)


def control(device):
    train, val = random_split(Images(transform=augment), [3, 1])
    val.dataset = Images(transform=None)
    return check(train, val)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
