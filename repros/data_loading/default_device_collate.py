# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "With the GPU as the default device, default_collate creates batches that cannot be pinned"
# kind = "error"
# symptom = "cannot pin '.*' only dense CPU tensors can be pinned"
# messages = ["cannot pin '[^']{0,200}' only dense CPU tensors can be pinned"]
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.set_default_device.html",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/collate.py",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/_utils/pin_memory.py",
# ]
# wrong = '''
# with torch.device("cuda"):  # or torch.set_default_device("cuda")
#     batch = default_collate([1.0, 2.0])
# batch.pin_memory()  # as a loader with pin_memory=True does
# '''
# right = '''
# with torch.device("cpu"):
#     batch = default_collate([1.0, 2.0])
# '''
# fix = "data_loading.Prefetcher"
# requires = ">=2.0"
# affected = { cpu = ">=2.0", cuda = ">=2.0" }
# stand_in = { cpu = "a meta tensor: like a GPU tensor, it is not a CPU tensor and cannot be pinned" }
# retired = "nobody has reported this failure, and only a run on a GPU could show that the control passes"
# ///
"""To turn numbers into tensors, default_collate() calls torch.tensor()
(torch/utils/data/_utils/collate.py), which uses the default device (docs:
torch.set_default_device). With pin_memory=True, the loader then calls pin_memory() on these tensors
(torch/utils/data/_utils/pin_memory.py).

The rows here are plain floats, and nothing in the dataset moves data to the GPU.
"""

import torch
from torch.utils.data import default_collate


def collate_and_pin(default_device):
    with torch.device(default_device):
        batch = default_collate([1.0, 2.0])
    try:
        batch.pin_memory()
    except RuntimeError as error:
        if "only dense CPU tensors" in str(error):
            return str(error)
        if default_device != "cpu":  # without an accelerator a CPU tensor raises something else
            raise


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
