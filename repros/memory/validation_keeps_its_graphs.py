# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Validation in eval() mode without no_grad keeps the graph of every output it collects"
# kind = "leak"
# symptom = "5 of 5 graphs are alive after validation"
# origin = "design"
# reports = [
#     "https://github.com/hszhao/semseg/issues/60",
#     "https://github.com/pytorch/pytorch/issues/4932",
#     "https://github.com/facebookresearch/votenet/issues/30",
# ]
# documents = [
#     "https://github.com/lshiwjx/2s-AGCN/issues/12",
#     "https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation",
# ]
# wrong = '''
# model.eval()
# for x, y in loader:
#     outputs.append(model(x))
# '''
# right = '''
# model.eval()
# with torch.no_grad():
#     for x, y in loader:
#         outputs.append(model(x).cpu())  # and labels.append(y.cpu()), to compare them
# '''
# rule = "warning"
# when = "the caller has not turned gradients off"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Training fits, but the first validation runs out of memory. Each output refers to its graph, and
the graph refers to the tensors that the layers saved for a backward pass that never comes.

Calling eval() changes dropout and batch norm, but leaves autograd on (docs: notes/autograd).
Garbage collection, tried in lshiwjx/2s-AGCN#12, frees nothing that is still referenced. The call to
cpu() moves the outputs themselves off the device, where they add up too. If an output is a dict or
a tuple, call cpu() on each of its tensors. On the CPU, this call copies nothing. If an output is a
slice, such as hidden[:, 0], it holds the whole tensor, so clone() the slice (see
memory/kept_slice_holds_the_batch).

A model that differentiates within its forward pass needs torch.enable_grad() in that pass. Before
torch 2.11, if validation runs before training within one autocast block, backward() raises an
error: see amp/autocast_cache_under_no_grad.
"""

import gc
import weakref

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.saved = torch.nn.Linear(3, 3), []

    def forward(self, x):
        hidden = self.layer(x)
        self.saved.append(weakref.ref(hidden))  # square() saves it for the backward
        return hidden.square()


def start(device):
    loader = [(torch.full((2, 3), float(n), device=device), None) for n in range(5)]
    return Net().to(device), loader, []


def check(model, loader, outputs):
    if alive := sum(hidden() is not None for hidden in model.saved):
        return f"{alive} of 5 graphs are alive after validation"
    for (x, _), output in zip(loader, outputs):
        expected = (x @ model.layer.weight.T + model.layer.bias).square()
        if output.device.type != "cpu" or not torch.allclose(output, expected.cpu(), atol=1e-3):
            return "the outputs differ"


def reproduce(device):
    model, loader, outputs = start(device)
    model.eval()
    for x, y in loader:
        outputs.append(model(x))
    return check(model, loader, outputs)


def control(device):
    model, loader, outputs = start(device)
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            outputs.append(model(x).cpu())
    return check(model, loader, outputs)


def popular_fix(device):
    model, loader, outputs = start(device)
    model.eval()
    for x, _ in loader:
        outputs.append(model(x))
        gc.collect()
    return check(model, loader, outputs)


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
