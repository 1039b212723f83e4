# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Summing losses for the log keeps the graph of every step alive"
# kind = "leak"
# symptom = "5 of 5 graphs are alive"
# keywords = ["memory leak", "memory grows with every step", "out of memory after some epochs"]
# origin = "usage"
# documents = ["https://pytorch.org/docs/stable/notes/faq.html"]
# wrong = '''
# TODO
# '''
# fix = "loss.RunningMean"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""`total += loss` refers to every loss, and each loss refers to the saved tensors of
its forward pass.

Memory grows by one graph per step. float(loss) or loss.detach() breaks the chain; del
loss does not.
"""

import weakref

import torch


class Saved:  # what autograd stores in place of a tensor; dies with the graph that holds it
    def __init__(self, tensor):
        self.tensor = tensor


def log_losses(device, keep):
    weight, total, graphs = torch.ones(3, device=device, requires_grad=True), 0.0, []

    def pack(tensor):
        saved = Saved(tensor)
        graphs.append(weakref.ref(saved))
        return saved

    for _ in range(5):
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved.tensor):
            loss = weight.square().sum()
        total += keep(loss)
        del loss
    alive = sum(graph() is not None for graph in graphs)
    if alive:
        return f"{alive} of 5 graphs are alive"


def reproduce(device):
    return log_losses(device, keep=lambda loss: loss)


def control(device):
    return log_losses(device, keep=float)


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
