# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "pin_memory=True without a usable accelerator is ignored without a word"
# kind = "silent"
# symptom = "not pinned and there was no warning"
# messages = [
#     "'pin_memory' argument is set as true but no accelerator is found",
#     "'pin_memory' argument is set as true but not supported on MPS",
# ]
# keywords = ["pin_memory makes no difference", "slow host to device copy"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/146821", "https://github.com/pytorch/pytorch/issues/131858"]
# wrong = '''
# TODO
# '''
# fix = "data_loading.pin_decision"
# affected = { cpu = "<2.7", mps = "<2.7" }
# ///
"""Until 2.6 the DataLoader asked torch.cuda.is_available() and dropped the request;
since 2.7 it warns.

Copies with non_blocking=True from such batches are synchronous: the overlap one asked
for does not happen.
"""

import warnings

import torch
from torch.utils.data import DataLoader, TensorDataset


def load(pin_memory):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in DataLoader(TensorDataset(torch.ones(4)), pin_memory=pin_memory):
            pass
    return any("pin_memory" in str(warning.message) for warning in caught)


def reproduce(device):
    if not load(pin_memory=True):
        return "the batch is not pinned and there was no warning"


def control(device):
    if load(pin_memory=False):
        return "a warning that nobody asked for"


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
