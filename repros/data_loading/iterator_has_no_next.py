# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The iterator of a DataLoader has had no next() method since torch 1.13"
# kind = "error"
# symptom = "DataLoaderIter' object has no attribute 'next'"
# messages = ["DataLoaderIter. object has no attribute .next\\b"]
# origin = "design"
# reports = [
#     "https://github.com/CompVis/metric-learning-divide-and-conquer/issues/13",
#     "https://github.com/deepspeedai/DeepSpeedExamples/issues/222",
#     "https://github.com/CIA-Oceanix/TrAISformer/issues/32",
#     "https://github.com/neeraj3029/Ne2Ne-Image-Denoising/issues/5",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/dataloader.py"]
# wrong = '''
# batches = iter(loader)
# inputs, labels = batches.next()
# '''
# right = '''
# batches = iter(loader)
# inputs, labels = next(batches)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Code from a tutorial or an older project worked with torch 1.12 but fails with torch 1.13.

In Python 3, the method behind next() is named __next__(). DataLoader iterators also had a next()
method, which torch 1.13 no longer has (deepspeedai/DeepSpeedExamples#222). The built-in function
next() works in every release. Downgrading torch is unnecessary.

The iterator covers one epoch. After the last batch, next() raises StopIteration, as the old method
did. Call iter(loader) only once per epoch: each call starts a new epoch
(torch/utils/data/dataloader.py).
"""

import torch
from torch.utils.data import DataLoader, TensorDataset


def start():
    return DataLoader(TensorDataset(torch.eye(3), torch.arange(3)), batch_size=2)


def reproduce(device):
    loader = start()
    batches = iter(loader)
    try:
        inputs, labels = batches.next()
    except AttributeError as error:
        return str(error)


def control(device):
    loader = start()
    batches = iter(loader)
    inputs, labels = next(batches)
    if labels.tolist() != [0, 1] or not torch.equal(inputs, torch.eye(3)[:2]):
        return f"the first batch is {inputs}, {labels}"
    if next(batches)[1].tolist() != [2] or next(batches, None):
        return "the second batch is not the last"


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
