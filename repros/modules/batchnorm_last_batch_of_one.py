# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "BatchNorm raises in the last batch of an epoch, which holds one sample"
# kind = "error"
# symptom = "Expected more than 1 value per channel"
# messages = ["Expected more than 1 (?:value per channel|spatial element) when training"]
# keywords = [
#     "training crashes at the end of the first epoch",
#     "last batch has one sample",
#     "BatchNorm1d batch size 1",
#     "training dies at the last step of an epoch",
#     "works with some dataset sizes and not with others",
#     "one leftover sample in the final batch breaks training",
#     "batch norm needs more than one sample",
# ]
# origin = "design"
# reports = [
#     "https://github.com/open-mmlab/mmsegmentation/issues/3192",
#     "https://github.com/meetps/pytorch-semseg/issues/214",
#     "https://github.com/fastai/fastai/issues/1352",
# ]
# documents = [
#     "https://github.com/openvinotoolkit/nncf/pull/379",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/functional.py",
# ]
# wrong = '''
# loader = DataLoader(dataset, batch_size=4)  # 9 samples
# '''
# right = '''
# loader = DataLoader(dataset, batch_size=4, drop_last=True)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""All batches of the epoch pass but the last.

The variance of a single value is zero, so batch_norm() refuses one value per channel in
train mode (torch/nn/functional.py). Nine samples in batches of four leave one over.
"""

import torch
from torch.utils.data import DataLoader


def train(device, **options):
    norm = torch.nn.BatchNorm1d(2).to(device)
    dataset = torch.ones(9, 2)
    loader = DataLoader(dataset, batch_size=4, **options)
    try:
        for batch in loader:
            norm(batch.to(device))
    except ValueError as error:
        return str(error)


def reproduce(device):
    return train(device)


def control(device):
    return train(device, drop_last=True)


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
