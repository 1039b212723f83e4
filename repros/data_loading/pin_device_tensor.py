# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "pin_memory() raises an error for a tensor that is already on the device"
# kind = "error"
# symptom = "cannot pin '.*' only dense CPU tensors can be pinned"
# origin = "design"
# documents = ["https://docs.pytorch.org/docs/stable/notes/cuda.html#use-pinned-memory-buffers"]
# wrong = '''
# tensor.pin_memory()
# '''
# fix = "data_loading.pin_batch"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# stand_in = { cpu = "a meta tensor: like a GPU tensor, it is not a CPU tensor and cannot be pinned" }
# retired = "nobody has reported this failure for a direct call; data_loading/pin_device_tensor_in_loader has the message"
# ///
"""Only tensors in host memory can be pinned (docs: notes/cuda, pinned memory buffers)."""

import torch


def pin(tensor):
    try:
        tensor.pin_memory()
    except RuntimeError as error:  # a CPU tensor without an accelerator raises something else
        if "only dense CPU tensors" in str(error):
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
