# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "backward() can fail if Python's random decides whether to skip a layer under checkpoint(use_reentrant=False)"
# kind = "error"
# symptom = "A different number of tensors was saved during the original forward and recomputation|Attempt to retrieve a tensor saved by autograd multiple times|ran in the forward and has no gradient"
# messages = [
#     "A different number of tensors was saved during the original forward and recomputation",
#     "Attempt to retrieve a tensor saved by autograd multiple times without checkpoint recomputation",
# ]
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/checkpoint.html",
#     "https://github.com/2U1/Phi3-Vision-Finetune/issues/32",
# ]
# wrong = '''
# def block(x):
#     return layer(x).tanh() if random.random() < 0.5 else x
# '''
# right = '''
# def block(x):
#     return layer(x).tanh() if torch.rand(()) < 0.5 else x
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The backward pass runs the block again, and fails because the second run takes a different path.

For the second run, checkpoint() restores the state of torch's default generators, but no other
state (torch/utils/checkpoint.py). Examples of other state are Python's random, NumPy's generator,
your own torch.Generator, a counter, and a flag that changed in between. With
preserve_rng_state=False it does not restore the default generators either. The check in
checkpoint() compares only the shapes, dtypes and devices of the saved tensors (docs:
torch.utils.checkpoint). If the draw chooses between two layers of the same size, no error is
raised, and the first run's layer gets the other layer's gradient. If the skipped layer precedes
another layer, the gradient can be wrong without an error too.

The usual advice for recomputation errors is use_reentrant=True (2U1/Phi3-Vision-Finetune#32), which
is still the default in 2.15. It skips the comparison, so the second run's path is silently trained.
"""

import random

import torch
from torch.utils.checkpoint import checkpoint


class Layer(torch.nn.Linear):
    def forward(self, x):
        self.was_used = True
        return super().forward(x)


def run(device, block, layer, use_reentrant=False):
    layer.was_used, layer.weight.grad = False, None
    x = torch.ones(1, 2, device=device, requires_grad=True)
    try:
        y = checkpoint(block, x * 2, use_reentrant=use_reentrant)
        was_used = layer.was_used
        y.sum().backward()
    except RuntimeError as error:
        return str(error).partition("\n")[0]
    if was_used and layer.weight.grad is None:
        return "the layer ran in the forward and has no gradient"


def reproduce(device, use_reentrant=False):
    layer, state = Layer(2, 2).to(device), random.getstate()
    random.seed(1)  # draws 0.13, then 0.85

    def block(x):
        return layer(x).tanh() if random.random() < 0.5 else x

    try:
        return run(device, block, layer, use_reentrant)
    finally:
        random.setstate(state)


def control(device):
    layer = Layer(2, 2).to(device)

    def block(x):
        return layer(x).tanh() if torch.rand(()) < 0.5 else x

    return next(filter(None, (run(device, block, layer) for _ in range(20))), None)


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
