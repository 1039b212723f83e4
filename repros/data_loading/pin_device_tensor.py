# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "pin_memory() on a tensor that is already on the device raises"
# kind = "error"
# symptom = "cannot pin '.*' only dense CPU tensors can be pinned"
# messages = ["cannot pin '[^']{0,200}' only dense CPU tensors can be pinned", "[Oo]nly dense CPU tensors can be pinned"]
# origin = "usage"
# reports = ["https://github.com/unit8co/darts/issues/436"]
# documents = ["https://pytorch.org/docs/stable/generated/torch.Tensor.pin_memory.html"]
# wrong = '''
# TODO
# '''
# fix = "data_loading.make_loader"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# stand_in = { cpu = "a meta tensor: like a GPU tensor, it is not a CPU tensor and cannot be pinned" }
# ///
"""Pinning locks pages of host memory; a tensor on the device has none
(aten/src/ATen/native/Memory.cpp).

Searching for "Trying to pin GPU tensors that are already on GPU" finds no PyTorch
source: the real text is this one.
"""

import torch


def pin(tensor):
    try:
        tensor.pin_memory()
    except RuntimeError as error:
        if "only dense CPU tensors" in str(
            error
        ):  # without an accelerator a CPU tensor has an error of its own
            return str(error)


def reproduce(device):
    return pin(torch.ones(3, device="meta" if device == "cpu" else device))


def control(device):
    return pin(torch.ones(3))


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
