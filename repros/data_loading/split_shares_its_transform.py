# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Validation images are augmented because random_split shares one dataset"
# kind = "silent"
# symptom = "the validation row is augmented"
# origin = "design"
# reports = [
#     "https://github.com/udacity/deep-learning-v2-pytorch/issues/132",
#     "https://github.com/gpleiss/efficient_densenet_pytorch/issues/51",
#     "https://github.com/pyg-team/pytorch_geometric/issues/8557",
# ]
# documents = [
#     "https://github.com/victoresque/pytorch-template/issues/62",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/dataset.py",
# ]
# wrong = '''
# train, val = random_split(Images(transform=augment), [3, 1])
# '''
# right = '''
# from torch.utils.data import Subset
# train, val = random_split(Images(transform=augment), [3, 1])
# val = Subset(Images(transform=None), val.indices)  # all but the augmentation
# '''
# rule = "note"
# when = "the last part is for validation or testing"
# affected = { cpu = ">=1.13" }
# ///
"""Both parts of random_split() are Subsets of one dataset, which holds the transform
(torch/utils/data/dataset.py). Create a second dataset without the augmentation, and read the
validation rows from it. Both datasets have to list their files in the same order. Split into all
parts in a single call. If you split a part again, val.indices are relative to that part. In the
whole dataset, these indices select other rows, including training rows.

Setting val.transform = None, as advised in victoresque/pytorch-template#62, has no effect, because
no code reads this attribute of Subset (pyg-team/pytorch_geometric#8557).
"""

import torch
from torch.utils.data import Dataset, Subset, random_split


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
    if val[0][0] == -1:
        return "the validation row is augmented"
    rows = [int(image[1]) for image in train] + [int(image[0]) for image in val]
    if sorted(rows) != [0, 1, 2, 3]:
        return f"rows {rows} instead of each once, those of training augmented"


def reproduce(device):
    train, val = random_split(Images(transform=augment), [3, 1])
    return check(train, val)


def control(device):
    train, val = random_split(Images(transform=augment), [3, 1])
    val = Subset(Images(transform=None), val.indices)  # all but the augmentation
    return check(train, val)


def popular_fix(device):
    train, val = random_split(Images(transform=augment), [3, 1])
    val.transform = None
    return check(train, val)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
