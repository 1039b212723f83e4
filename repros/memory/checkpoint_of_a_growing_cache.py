# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "backward() fails if attention under checkpoint(use_reentrant=False) appends to a cache"
# kind = "error"
# symptom = "Recomputed values for the following tensors have different metadata|invalid gradient at index|the gradient is off by"
# messages = [
#     "Recomputed values for the following tensors have different metadata than during the forward pass",
#     "MmBackward0 returned an invalid gradient at index \\d{1,2} - got \\[.{1,40}?\\] but expected shape compatible with",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/155171",
#     "https://github.com/shihao1895/MemoryVLA/issues/18",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/checkpoint.html",
#     "https://github.com/2U1/Phi3-Vision-Finetune/issues/32",
# ]
# wrong = '''
# def attend(x):
#     cache.append(x)
#     return attention(x, torch.cat(cache))
# y = checkpoint(attend, x, use_reentrant=False)
# '''
# right = '''
# cache.append(x)  # outside of what runs twice
# y = checkpoint(attention, x, torch.cat(cache), use_reentrant=False)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""During backward(), the block runs a second time, finds the cache as the first run left it, and
appends to it again. The tensors then have twice the length, as in pytorch#155171 and
shihao1895/MemoryVLA#18, so the check of their shapes fails (torch/utils/checkpoint.py). Before 2.1
there was no check, and backward() itself failed with an ordinary error about sizes.

Append to the cache before the block, and pass the whole cache to the block. If each chunk has its
own backward(), replace x in the cache with x.detach() after this call. Otherwise, the next
backward() would run through the same graph a second time. If a library's transformer keeps its own
cache, turn the cache off for training (use_cache=False: 2U1/Phi3-Vision-Finetune#32).

That thread also advises use_reentrant=True, which is still the default in 2.15 and skips the check.
If a cached tensor has a graph, backward() then fails because it runs through this graph twice.
Otherwise, no error is raised, but the gradient can belong to an attention over the wrong tokens.
"""

import torch
from torch.utils.checkpoint import checkpoint


def attention(x, keys):
    return x @ keys.T @ keys


def start(device):
    x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], device=device, requires_grad=True)
    return x, [], torch.tensor([1.0, 3.0], device=device)


def difference(x, y, weight):
    (y * weight).sum().backward()
    found, x.grad = x.grad, None
    (attention(x, x) * weight).sum().backward()
    off = (found - x.grad).abs().max().item()
    if off > 1e-4:
        return f"the gradient is off by {off:.1g}"


def reproduce(device, use_reentrant=False):
    x, cache, weight = start(device)

    def attend(x):
        cache.append(x)
        return attention(x, torch.cat(cache))

    y = checkpoint(attend, x, use_reentrant=use_reentrant)
    try:
        return difference(x, y, weight)
    except RuntimeError as error:
        return str(error)


def control(device):
    x, cache, weight = start(device)
    cache.append(x)  # outside of what runs twice
    y = checkpoint(attention, x, torch.cat(cache), use_reentrant=False)
    return difference(x, y, weight)


def popular_fix(device):
    return reproduce(device, use_reentrant=True)


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
