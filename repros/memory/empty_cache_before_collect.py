# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "empty_cache() before gc.collect() gives nothing back that the collector frees"
# kind = "leak"
# symptom = "MiB still reserved"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/27600"]
# documents = ["https://pytorch.org/docs/stable/notes/faq.html", "https://pytorch.org/docs/stable/notes/cuda.html#memory-management"]
# wrong = '''
# TODO
# '''
# fix = "memory.release"
# affected = { cuda = ">=1.13" }
# ///
"""Blocks freed by gc.collect() go to PyTorch's cache; only a later empty_cache() hands
them to the driver.

The order matters to other processes and to nvidia-smi alone: this process can use
cached blocks as they are.
"""

import gc

import torch

SIZE = 64 * 2**20


def reserved_after(*steps):
    gc.collect()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_reserved()
    cycle = [torch.empty(SIZE, dtype=torch.uint8, device="cuda")]
    cycle.append(cycle)
    del cycle
    for step in steps:
        step()
    if torch.cuda.memory_reserved() > before:
        return f"{(torch.cuda.memory_reserved() - before) / 2**20:.0f} MiB still reserved"


def reproduce(device):
    return reserved_after(torch.cuda.empty_cache, gc.collect)


def control(device):
    return reserved_after(gc.collect, torch.cuda.empty_cache)


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
