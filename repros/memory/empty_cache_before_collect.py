# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "empty_cache() before gc.collect() does not release the memory that the collector frees"
# kind = "leak"
# symptom = "MiB still reserved"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management",
#     "https://github.com/invoke-ai/InvokeAI/pull/2791",
# ]
# wrong = '''
# torch.cuda.empty_cache()
# gc.collect()
# '''
# right = '''
# import gc
# gc.collect()
# torch.cuda.empty_cache()
# '''
# fix = "memory.free_memory"
# use = '''
# from memory import free_memory
# free_memory()
# '''
# choice = "Normally, use the lines without the fix; in an exception handler, use the fix, which clears the frames of the exception first"
# affected = { cuda = ">=1.13" }
# ///
"""After both calls, nvidia-smi still shows the memory as used, and other processes cannot use it.

Memory that the garbage collector frees goes to PyTorch's cache, and a later call to empty_cache()
releases it. This process can use the memory either way (docs: CUDA semantics, memory management).
Neither call frees memory that is still referenced, for example by a deleted model's optimizer.
"""

import gc

import torch


def start():
    gc.collect()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_reserved()
    cycle = [torch.empty(64 * 2**20, dtype=torch.uint8, device="cuda")]
    cycle.append(cycle)
    return before


def check(before):
    kept = torch.cuda.memory_reserved() - before
    if kept > 0:
        return f"{kept / 2**20:.0f} MiB still reserved"


def reproduce(device):
    before = start()
    torch.cuda.empty_cache()
    gc.collect()
    return check(before)


def control(device):
    before = start()
    gc.collect()
    torch.cuda.empty_cache()
    return check(before)


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
