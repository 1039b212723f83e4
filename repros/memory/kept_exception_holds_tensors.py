# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An exception kept for the log keeps the failed step's tensors"
# kind = "leak"
# symptom = "kept exception holds the activations"
# keywords = ["memory not freed after an exception"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/27600"]
# documents = ["https://pytorch.org/docs/stable/notes/faq.html", "https://docs.python.org/3/library/traceback.html#traceback.clear_frames"]
# wrong = '''
# TODO
# '''
# fix = "memory.drop_frames"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""error.__traceback__ refers to the frames of the failed step: a list of errors is a
list of all their tensors.

with_traceback(None) on a wrapping exception does not help: the original lives on as its
__context__.
"""

import gc
import weakref

import torch


def step(device, seen):
    activations = torch.ones(1024, device=device)
    seen.append(weakref.ref(activations))
    torch.empty(2**50, dtype=torch.uint8, device=device)  # out of memory on every device


def log(device, keep):
    seen, kept = [], []
    try:
        step(device, seen)
    except RuntimeError as error:
        kept.append(keep(error))
    gc.collect()
    if seen[0]() is not None:
        return f"the kept exception holds the activations of the failed step ({type(kept[0]).__name__})"


def wrap(error):
    try:
        raise ValueError("step failed")  # inside except: Python notes the original as __context__
    except ValueError as wrapper:
        return wrapper.with_traceback(None)


def reproduce(device):
    return log(device, keep=lambda error: error)


def control(device):
    return log(device, keep=str)


def popular_fix(device):
    return log(device, keep=wrap)


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
