# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "After set_default_device() the default collate makes batches that cannot be pinned"
# kind = "error"
# symptom = "cannot pin '.*' only dense CPU tensors can be pinned"
# messages = ["cannot pin '[^']{0,200}' only dense CPU tensors can be pinned"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/5398"]
# documents = ["https://pytorch.org/docs/stable/generated/torch.set_default_device.html"]
# wrong = '''
# TODO
# '''
# fix = "data_loading.make_loader"
# requires = ">=2.0"
# affected = { cpu = ">=2.0", cuda = ">=2.0" }
# stand_in = { cpu = "a meta tensor: like a GPU tensor, it is not a CPU tensor and cannot be pinned" }
# ///
"""default_collate() turns numbers into tensors with torch.tensor(), which obeys the
default device.

The dataset holds plain floats and no line of the user's code moves anything, so the
error seems to come from nowhere.
"""

import torch
from torch.utils.data import default_collate


def collate_and_pin(default_device):
    torch.set_default_device(default_device)
    try:
        batch = default_collate([1.0, 2.0])
    finally:
        torch.set_default_device(None)
    try:
        batch.pin_memory()
    except RuntimeError as error:
        if "only dense CPU tensors" in str(error):
            return str(error)


def reproduce(device):
    return collate_and_pin("meta" if device == "cpu" else device)


def control(device):
    return collate_and_pin("cpu")


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
