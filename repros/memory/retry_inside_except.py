# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A retry inside the except block runs with the failed step's tensors still alive"
# kind = "oom"
# symptom = "activations of the failed step are still alive"
# keywords = [
#     "second try also out of memory",
#     "smaller batch still out of memory",
#     "catch out of memory and retry with half the batch",
#     "retry after OOM fails again even with batch size 1",
#     "memory not freed in the except block",
#     "empty_cache in except does not help before retrying",
#     "automatic batch size reduction never succeeds",
#     "fallback to smaller batch crashes too",
#     "recovering from cuda out of memory does not work",
#     "a batch of one fails after a large one failed",
#     "running the same small batch alone works fine",
#     "try except loop on batch size always ends in OOM",
#     "how to continue after out of memory",
#     "split the batch in two after failure, still fails",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/27600",
#     "https://github.com/pytorch/pytorch/issues/26188",
#     "https://github.com/pytorch/pytorch/issues/18853",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/notes/faq.html"]
# wrong = '''
# try: step(batch)
# except RuntimeError:
#     torch.cuda.empty_cache(); step(smaller)
# '''
# right = '''
# find_batch_size(step, largest=1024)
# '''
# fix = "memory.find_batch_size"
# rule = "warning"
# when = "the first run ran out of memory"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The second try runs out of memory too (pytorch#18853).

Inside the except block the exception refers to the frames of the failed step, and they to
its tensors; leave the block before the retry (docs: Frequently Asked Questions).
gc.collect() and empty_cache() in the block free none of them (pytorch#26188).
"""

import gc
import weakref

import torch


def step(device, seen):
    activations = torch.ones(3, device=device)
    seen.append(weakref.ref(activations))
    torch.empty(2**50, device=device)  # out of memory on every device


def alive(seen):
    if seen[0]() is not None:
        return "the activations of the failed step are still alive when the retry starts"


def retry(device, inside, clean_up=lambda: None):
    seen = []
    try:
        step(device, seen)
    except RuntimeError:
        if inside:
            clean_up()
            return alive(seen)
    return alive(seen)


def reproduce(device):
    return retry(device, inside=True)


def control(device):
    return retry(device, inside=False)


def popular_fix(device):
    return retry(device, inside=True, clean_up=lambda: (gc.collect(), torch.cuda.empty_cache()))


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
