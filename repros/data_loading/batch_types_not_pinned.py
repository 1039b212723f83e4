# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Dataclass and set batches are silently left unpinned"
# kind = "silent"
# symptom = "pin_memory walked past: dataclass, object, set"
# origin = "usage"
# reports = ["https://github.com/ultralytics/yolov3/issues/1713"]
# documents = ["https://github.com/pytorch/pytorch/pull/16743", "https://pytorch.org/docs/stable/data.html#memory-pinning"]
# wrong = '''
# TODO
# '''
# fix = "data_loading.make_loader"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# stand_in = { cpu = "a meta tensor: like a GPU tensor, it is not a CPU tensor and cannot be pinned" }
# ///
"""The loader's walk knows tensors, mappings, sequences and objects with a pin_memory()
method; the rest it returns as it is.

Nothing is raised: the batch is simply slower to copy.
(torch/utils/data/_utils/pin_memory.py)
"""

from dataclasses import dataclass
from types import SimpleNamespace

import torch
from torch.utils.data._utils.pin_memory import (
    pin_memory,
)  # what the DataLoader calls on every batch


@dataclass
class Batch:
    x: torch.Tensor


def not_reached(batches):
    """pin_memory() raises for a device tensor that it reaches, so silence means that it walked past."""
    missed = []
    for name, batch in batches.items():
        try:
            pin_memory(batch)
            missed.append(name)
        except RuntimeError:
            pass
    if missed:
        return f"pin_memory walked past: {', '.join(missed)}"


def reproduce(device):
    x = torch.ones(2, device="meta" if device == "cpu" else device)
    return not_reached(
        {"dataclass": Batch(x), "object": SimpleNamespace(x=x), "set": {x}, "dict": {"x": x}}
    )


def control(device):
    x = torch.ones(2, device="meta" if device == "cpu" else device)
    return not_reached({"tensor": x, "dict": {"x": x}, "list": [x], "tuple": (x,)})


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
