# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Deleted models that refer to themselves stay in memory until the garbage collector runs"
# kind = "leak"
# symptom = "dropped models are still in memory"
# messages = ["DefaultCPUAllocator: can.t allocate memory"]
# elsewhere = [
#     "CUDA out of memory",
#     "CUDA error: out of memory",
#     "CUDA driver error: out of memory",
#     "(?:HIP|XPU) out of memory",
#     "cuda runtime error \\(\\d\\) ?: out of memory",
#     "THCudaCheck FAIL .{0,150}?out of memory",
#     "Unable to find a valid cuDNN algorithm to run convolution",
#     "(torch|cuda)\\.OutOfMemoryError",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/50185",
#     "https://github.com/pytorch/pytorch/issues/20199",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/105032",
#     "https://github.com/pytorch/benchmark/pull/830",
#     "https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.empty_cache.html",
# ]
# wrong = '''
# train(model)
# del model
# '''
# right = '''
# import gc
# train(model)
# del model
# gc.collect()
# '''
# fix = "memory.free_memory"
# use = '''
# from memory import free_memory
# train(model)
# del model
# free_memory()
# '''
# choice = "Normally, use the lines without the fix; use the fix, which also empties the cache, if another process needs the memory"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""Deleted models keep their memory, so the next model no longer fits (pytorch#50185).

If the model holds one of its own methods as a hook, there is a reference cycle. A closure or
callback that refers to the model creates a cycle too. Only the garbage collector frees the objects
in a cycle. The collector runs after a certain number of new objects, whatever their size
(pytorch#20199), so a few models may not trigger it.

Users call empty_cache() after `del` (pytorch/benchmark#830), but it frees nothing that a tensor
still uses (docs: torch.cuda.memory.empty_cache). An optimizer, scheduler, callback, output or loss
that still exists holds the model's weights, so delete these objects too.
"""

import gc
import weakref

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(3, 3)
        self.body.register_forward_hook(self.keep)

    def keep(self, module, args, output):
        self.features = output.detach()

    def forward(self, x):
        return self.body(x)


def start(device):
    gc.collect()
    weights = []

    def train(model):
        model(torch.ones(1, 3, device=device)).sum().backward()
        weights.append(weakref.ref(model.body.weight))

    return weights, train


def check(weights):
    if alive := sum(weight() is not None for weight in weights):
        return f"{alive} of 5 dropped models are still in memory"


def reproduce(device):
    weights, train = start(device)
    for _ in range(5):
        model = Net().to(device)
        train(model)
        del model
    return check(weights)


def control(device):
    weights, train = start(device)
    for _ in range(5):
        model = Net().to(device)
        train(model)
        del model
        gc.collect()
    return check(weights)


def messages(device):
    try:
        torch.empty(2**50, device=device)
    except RuntimeError as error:
        return str(error)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
