# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A sample that is a list comes out of the DataLoader transposed"
# kind = "silent"
# symptom = "the first entry of the batch is \\[1, 4\\]"
# keywords = [
#     "batch is a list of tensors instead of one tensor",
#     "labels have shape features x batch",
#     "DataLoader mixes up the labels of different samples",
#     "default_collate transposes lists",
#     "bounding boxes in the wrong order after batching",
#     "dataloader returns a list with the wrong shape",
#     "batch dimension and feature dimension are swapped",
#     "expected batch x 4 boxes, got four tensors",
#     "shape of labels is transposed after the dataloader",
#     "dataset returns a python list, batch comes out strange",
#     "keypoints or bbox coordinates get mixed between images",
#     "token ids list gives one tensor per position",
#     "len(batch) is the number of features, not the batch size",
#     "first dimension of my labels is not the batch size",
#     "multi-label targets scrambled across the samples",
#     "list of strings comes back grouped wrongly as tuples",
#     "model learns nothing since labels belong to other samples",
#     "batch order wrong when __getitem__ returns a list",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/23141",
#     "https://github.com/pytorch/pytorch/issues/50272",
#     "https://github.com/goldener-data/goldener/issues/202",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/collate.py"]
# wrong = '''
# rows = [[1, 2, 3], [4, 5, 6]]
# '''
# right = '''
# rows = [torch.tensor(row) for row in [[1, 2, 3], [4, 5, 6]]]
# '''
# affected = { cpu = ">=1.13" }
# ///
"""The batch of two samples of three numbers is a list of three tensors of two numbers:
batch[0] is the first number of every sample and not the first sample.

To default_collate() a list is a sample of several fields, and it collates field by field;
only tensors and arrays are stacked (torch/utils/data/_utils/collate.py, pytorch#50272).
Where the batch has as many samples as a sample has entries, the shapes fit, and nothing
fails.
"""

import torch
from torch.utils.data import DataLoader


def load(rows):
    (batch,) = DataLoader(rows, batch_size=2)
    if batch[0].tolist() != [1, 2, 3]:
        return f"the first entry of the batch is {batch[0].tolist()}"


def reproduce(device):
    rows = [[1, 2, 3], [4, 5, 6]]
    return load(rows)


def control(device):
    rows = [torch.tensor(row) for row in [[1, 2, 3], [4, 5, 6]]]
    return load(rows)


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
