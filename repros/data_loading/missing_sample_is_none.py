# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "default_collate() cannot batch the None that a dataset returns for a bad sample"
# kind = "error"
# symptom = "^TypeError: .*found <class 'NoneType'>|^a batch without samples"
# messages = [
#     "batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class .NoneType.>",
# ]
# elsewhere = [
#     "batch must contain tensors, numbers, dicts or lists; found <(?:class|type) .NoneType.>",
#     "batch must contain tensors, (?:numpy arrays, )?numbers, dicts,? or lists; found object",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/74337",
#     "https://github.com/Megvii-BaseDetection/YOLOX/issues/1523",
#     "https://github.com/pytorch/pytorch/issues/57429",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/issues/52850",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/collate.py",
# ]
# wrong = '''
# loader = DataLoader(dataset, batch_size=2)  # dataset[2] and dataset[3] are None
# '''
# right = '''
# import copy
# from torch.utils.data import Subset
# looked = copy.copy(dataset)  # a file that it opens is not one of the workers'
# with torch.random.fork_rng(devices=[]):  # the training draws as if nobody had looked
#     good = [index for index in range(len(dataset)) if looked[index] is not None]
# loader = DataLoader(Subset(dataset, good), batch_size=2)
# '''
# fix = "data_loading.collate"
# use = '''
# import copy
# from data_loading import collate
# from torch.utils.data import Subset
# looked = copy.copy(dataset)  # a file that it opens is not one of the workers'
# with torch.random.fork_rng(devices=[]):  # the training draws as if nobody had looked
#     good = [index for index in range(len(dataset)) if looked[index] is not None]
# loader = DataLoader(Subset(dataset, good), batch_size=2, collate_fn=collate)
# '''
# choice = "The lines without the fix are enough; with the fix as collate_fn, the error also says which sample, and which of its fields, is None"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The function default_collate() does not accept None (torch/utils/data/_utils/collate.py). Its
error message names the type but not the sample. The error depends on the batch's first sample: if
None follows a tensor, a number or a tuple, the message is different.

A popular workaround is to filter out None in collate_fn (pytorch#52850, pytorch#57429). It produces
smaller batches, and raises "IndexError: list index out of range" if a batch has no samples left.
Instead, check once which rows exist, before you create the loader. The check reads each row once
and does not keep the row, so the loader still augments the rows in every epoch. If __getitem__()
raises an error for a bad sample, change it to return None. The fork_rng() context restores the
state of torch's CPU generator, but not the states of `random` or NumPy.

The check finds samples that are None in every epoch, but not a None inside a tuple. It also misses
samples that are None at random, for example crops without an object: for these, draw again inside
__getitem__(). If you use a sampler, its indices and weights now refer to the rows of the Subset.

The check reads from a copy, because a dataset may open its file when it reads its first sample.
Forked workers would inherit the open file, share its position and read each other's rows. The copy
is shallow: if datasets wrap one another, copy the innermost dataset.
"""

import copy

import torch
from torch.utils.data import DataLoader, Dataset, Subset, default_collate


class Rows(Dataset):
    def __init__(self, device):
        self.rows = [torch.ones(3, device=device), torch.zeros(3, device=device), None, None]

    def __len__(self):
        return 4

    def __getitem__(self, index):
        row = self.rows[index]
        return None if row is None else row + torch.rand(1, device=row.device)


def reproduce(device):
    dataset = Rows(device)
    loader = DataLoader(dataset, batch_size=2)  # dataset[2] and dataset[3] are None
    try:
        list(loader)
    except TypeError as error:
        return f"TypeError: {error}"


def control(device):
    dataset = Rows(device)
    looked = copy.copy(dataset)  # a file that it opens is not one of the workers'
    with torch.random.fork_rng(devices=[]):  # the training draws as if nobody had looked
        good = [index for index in range(len(dataset)) if looked[index] is not None]
    loader = DataLoader(Subset(dataset, good), batch_size=2)
    (first,), (second,) = loader, loader
    if first.shape != (2, 3) or (first[0] <= first[1]).any() or torch.equal(first, second):
        return "not the two rows in order, augmented anew"


def popular_fix(device):
    def without_none(batch):
        return default_collate([row for row in batch if row is not None])

    try:
        list(DataLoader(Rows(device), batch_size=2, collate_fn=without_none))
    except IndexError:
        return "a batch without samples: IndexError"


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
