# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A dataset that uses CUDA fails in a forked worker after the main process has used CUDA"
# kind = "error"
# symptom = "Cannot re-initialize CUDA in forked subprocess"
# elsewhere = ["Cannot re-initialize CUDA in forked subprocess"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/77159",
#     "https://github.com/cfzd/Ultra-Fast-Lane-Detection-v2/issues/160",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#cuda-in-multiprocessing",
#     "https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods",
# ]
# wrong = '''
# for batch in DataLoader(Rows(device), num_workers=1):  # its rows are made on the GPU
#     train(batch)
# '''
# right = '''
# for batch in DataLoader(Rows("cpu"), num_workers=1):
#     batch = batch.to(device)
#     train(batch)
# '''
# fix = "data_loading.to_device"
# use = '''
# from data_loading import to_device
# for batch in DataLoader(Rows("cpu"), num_workers=1):
#     batch = to_device(batch, device)
#     train(batch)
# '''
# choice = "Use the lines without the fix if a batch is a single tensor; use the fix if it is a list, a dict or an object of your own class"
# affected = { cpu = "never", cuda = ">=1.13" }
# platform = "linux"
# ///
"""Up to Python 3.13, the default start method for workers on Linux is fork (docs.python.org:
multiprocessing, Contexts and start methods). The CUDA runtime does not support this method (docs:
notes/multiprocessing). Keep the dataset on the CPU and move each batch to the GPU. If a model
computes features on the GPU, run that model in the training loop.

The message suggests switching to the spawn method. For the teams that reported the failure, this
did not solve the problem (pytorch#77159).
"""

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, device):
        self.device = device

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return torch.ones(3, device=self.device)


def check(loop, device):
    torch.ones(1, device=device)  # the parent uses the device, as every training script does
    read = []
    try:
        loop(device, read.append)
    except RuntimeError as error:
        if "re-initialize" not in str(error):
            raise
        return str(error)
    if [tuple(batch.shape) for batch in read] != [(1, 3)] * 2 or read[0].device.type != device:
        return f"{read} instead of two batches on {device}"


def on_the_device(device, train):
    for batch in DataLoader(Rows(device), num_workers=1):
        train(batch)


def on_the_cpu(device, train):
    for batch in DataLoader(Rows("cpu"), num_workers=1):
        batch = batch.to(device)
        train(batch)


def reproduce(device):
    return check(on_the_device, device)


def control(device):
    return check(on_the_cpu, device)


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
