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
# keywords = [
#     "pin_memory makes no difference",
#     "slow host to device copy",
#     "pin_memory=True does not pin my tensors",
#     "batch.is_pinned() is False although I asked for it",
#     "pin_memory on Mac with mps does nothing",
#     "no difference in speed between pin_memory True and False",
#     "does pin_memory work on Apple silicon",
#     "pinned memory on a machine without nvidia gpu",
#     "driver not found, pinning ignored without a message",
#     "is pin_memory used at all on cpu only",
#     "tensors from the loader are not in pinned memory",
#     "pin_memory on AMD or Intel gpu has no effect",
# ]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/124908"]
# fixed_by = "pytorch#131858"
# wrong = '''
# loader = DataLoader(dataset, pin_memory=True)
# '''
# right = '''
# decision = pin_decision(device)  # decision.reason says why not
# loader = DataLoader(dataset, pin_memory=decision.pin)
# '''
# fix = "data_loading.pin_decision"
# affected = { cpu = "<2.7", mps = "<2.7" }
# ///
"""Until 2.6 the loader asks torch.cuda.is_available() and drops the request where it is
False; since 2.7 it warns (pytorch#124908, pytorch#131858).
"""

import warnings

import torch
from torch.utils.data import DataLoader


def load(device, pin_memory):
    torch.ones(1, device=device)  # raises where there is no such device
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        batch = next(iter(DataLoader(torch.ones(4), pin_memory=pin_memory)))
    if batch.is_pinned() != pin_memory and not any("pin" in str(one.message) for one in caught):
        return "the batch is not pinned and there was no warning"


def reproduce(device):
    return load(device, pin_memory=True)


def control(device):
    return load(device, pin_memory=False)


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
