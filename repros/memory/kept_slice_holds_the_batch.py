# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Collecting a slice of each output keeps the whole outputs in memory"
# kind = "leak"
# symptom = "5 kept tokens of 100 hold 500 tokens"
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/50432"]
# documents = [
#     "https://github.com/pfnet/pytorch-pfn-extras/pull/49",
#     "https://github.com/ViCCo-Group/thingsvision/pull/150",
#     "https://github.com/pytorch/pytorch/issues/33101",
#     "https://docs.pytorch.org/docs/stable/tensor_view.html",
# ]
# wrong = '''
# features.append(output[:, 0])
# '''
# right = '''
# features.append(output[:, 0].detach().clone())  # where a loss needs their gradient: clone() alone
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Keeping the features of one token per image keeps the memory of all tokens in use
(ViCCo-Group/thingsvision#150). The reason is that a slice is a view, which keeps its base's storage
(docs: tensor_view, pytorch#50432). The same applies to saved files (pytorch#33101).

Calling detach() frees kept graphs (pfnet/pytorch-pfn-extras#49), but creates another view. By
itself, clone() creates a copy that keeps the graph, so you need both. For a tensor on the CPU,
cpu() and numpy() copy nothing (docs: torch.Tensor.cpu, torch.Tensor.numpy). Under no_grad, clone()
is enough. If a loss is computed from the features, keep their graph until its backward() is done.
"""

import weakref

import torch


def outputs(device, hidden):
    layer = torch.nn.Linear(8, 8).to(device)
    for n in range(5):  # one sample of 100 tokens
        inner = layer(torch.full((1, 100, 8), float(n), device=device))
        hidden.append(weakref.ref(inner))  # square() saves it for the backward
        yield inner.square()


def held(features, hidden):
    storages = [getattr(each, "untyped_storage", each.storage)() for each in features]
    tokens = sum(storage.nbytes() for storage in storages) // (8 * 4)
    if tokens > 5:
        return f"5 kept tokens of 100 hold {tokens} tokens"
    if alive := sum(inner() is not None for inner in hidden[:-1]):
        return f"the graphs of {alive} of 4 kept tokens are alive"


def reproduce(device):
    features, hidden = [], []
    for output in outputs(device, hidden):
        features.append(output[:, 0])
    return held(features, hidden)


def control(device):
    features, hidden = [], []
    for output in outputs(device, hidden):
        features.append(output[:, 0].detach().clone())
    return held(features, hidden)


def popular_fix(device):
    features, hidden = [], []
    for output in outputs(device, hidden):
        features.append(output[:, 0].detach())
    return held(features, hidden)


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
