# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A dataset that touches CUDA fails in a forked DataLoader worker"
# kind = "error"
# symptom = "Cannot re-initialize CUDA in forked subprocess"
# messages = ["Cannot re-initialize CUDA in forked subprocess"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/40403", "https://github.com/pytorch/pytorch/issues/77159"]
# wrong = '''
# TODO
# '''
# fix = "data_loading.make_loader"
# affected = { cpu = "never", cuda = ">=1.13" }
# platform = "linux"
# ///
"""Linux starts workers by fork, and a CUDA context does not survive one. Keep datasets
on the CPU and move batches after collating.

multiprocessing_context="spawn" silences the error, and every worker then owns a CUDA
context of several hundred MB.
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


def load(device, dataset_device):
    torch.ones(1, device=device)  # the parent uses the device, as every training script does
    try:
        for _ in DataLoader(Rows(dataset_device), num_workers=1, multiprocessing_context="fork"):
            pass
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return load(device, dataset_device=device)


def control(device):
    return load(device, dataset_device="cpu")


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
