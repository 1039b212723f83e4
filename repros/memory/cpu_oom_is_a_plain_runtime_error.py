# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Handlers for CUDA's out-of-memory error do not catch that of the CPU or of MPS"
# kind = "error"
# symptom = "can't allocate memory|not enough memory|Invalid buffer size|out of memory"
# messages = ["DefaultCPUAllocator: (can't allocate|not enough) memory", "MPS backend out of memory", "Invalid buffer size"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/148642", "https://github.com/pytorch/pytorch/issues/83146", "https://github.com/Lightning-AI/pytorch-lightning/issues/6819", "https://github.com/huggingface/accelerate/issues/4226"]
# wrong = '''
# TODO
# '''
# fix = "memory.is_out_of_memory"
# affected = { cpu = ">=1.13", cuda = "never", mps = ">=1.13" }
# ///
"""torch.OutOfMemoryError is raised by the CUDA allocator alone. CPU and MPS raise
RuntimeError with texts of their own.

`"out of memory" in str(error)` misses the CPU text ("can't allocate memory", on Windows
"not enough memory") and MPS' "Invalid buffer size".
"""

import torch


def allocate(device, recognise):
    try:
        torch.empty(2**50, dtype=torch.uint8, device=device)
    except RuntimeError as error:
        if not recognise(error):
            return str(error)


def reproduce(device):
    return allocate(device, lambda error: isinstance(error, torch.cuda.OutOfMemoryError))


def control(device):
    return allocate(device, lambda error: True)


def popular_fix(device):
    return allocate(device, lambda error: "out of memory" in str(error))


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
