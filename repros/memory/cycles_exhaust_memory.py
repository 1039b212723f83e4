# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Dropped models that refer to themselves stay in memory until the collector runs"
# kind = "leak"
# symptom = "dropped models are still in memory"
# messages = [
#     "DefaultCPUAllocator: can.t allocate memory",
#     "CUDA out of memory",
#     "CUDA error: out of memory",
#     "cuda runtime error \\(2\\) ?: out of memory",
#     "THCudaCheck FAIL .{0,150}?out of memory",
#     "Unable to find a valid cuDNN algorithm to run convolution",
#     "(torch|cuda)\\.OutOfMemoryError",
# ]
# keywords = [
#     "memory not freed after del model",
#     "reference cycle",
#     "circular reference",
#     "hyperparameter search runs out of memory after some trials",
#     "gpu memory not released between cross validation folds",
#     "training several models in a loop fills the gpu",
#     "del model and memory is still taken",
#     "optuna trials use more and more gpu memory",
#     "kfold training crashes on the third fold",
#     "memory from the previous model stays in the notebook",
#     "only restarting the kernel frees the gpu memory",
#     "gc.collect is needed to free the old model",
#     "memory goes up each time I create a new model",
#     "function returned but the model is still on the gpu",
#     "grid search dies after several runs, first ones fine",
#     "model deleted, nvidia-smi still shows it",
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
# self.cycle = self
# '''
# right = '''
# del model
# gc.collect()
# '''
# fix = "memory.free_memory"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""Every dropped model keeps its memory until the next one no longer fits (pytorch#50185).

Only the garbage collector frees what is in a reference cycle, and it starts after a
number of new objects, whatever their size (pytorch#20199): a few models never start it.
empty_cache() frees nothing that a tensor still uses (docs: torch.cuda.memory.empty_cache),
though people call it after `del` (pytorch/benchmark#830).
"""

import gc
import weakref

import torch


class Model:
    def __init__(self, device):
        self.weight = torch.ones(3, device=device)
        self.cycle = self  # a bound method or a closure that is kept does the same


def drop_models(device, clean_up):
    gc.collect()
    weights = []
    for _ in range(5):
        model = Model(device)
        weights.append(weakref.ref(model.weight))
        del model
        clean_up()
    alive = sum(weight() is not None for weight in weights)
    if alive:
        return f"{alive} of 5 dropped models are still in memory"


def reproduce(device):
    return drop_models(device, lambda: None)


def control(device):
    return drop_models(device, gc.collect)


def popular_fix(device):
    return drop_models(device, torch.cuda.empty_cache)


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
