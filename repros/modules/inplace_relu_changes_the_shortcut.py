# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ReLU(inplace=True) at the start of a residual branch also changes the shortcut"
# kind = "silent"
# symptom = "the shortcut lost its negative values"
# origin = "usage"
# reports = [
#     "https://github.com/rosinality/vq-vae-2-pytorch/issues/60",
#     "https://github.com/pytorch/pytorch/issues/5687",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.ReLU.html",
#     "https://github.com/iduta/iresnet/pull/2",
# ]
# wrong = '''
# self.branch = Sequential(ReLU(inplace=True), Linear(6, 6))  # forward: x + self.branch(x)
# '''
# right = '''
# self.branch = Sequential(ReLU(), Linear(6, 6))  # forward: x + self.branch(x)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A block that should compute x + branch(x) computes relu(x) + branch(x), and its input changes.

The in-place ReLU writes its output into x (docs: torch.nn.ReLU), and the sum reads x afterwards,
whatever the order of the terms (rosinality/vq-vae-2-pytorch#60). If x is a batch of data, the data
change as well. Only an in-place layer that gets x itself causes the failure: after a Linear, a
convolution or BatchNorm, an in-place layer is harmless. Identity, Flatten and, in eval mode,
Dropout pass x on, so an in-place ReLU after them also changes x. LeakyReLU, ELU and Dropout with
inplace=True cause the failure too. Autograd raises an error only if x is a leaf that requires a
gradient, or if the backward pass of another layer needs the overwritten x. A tanh before the block
is an example of such a layer.
"""

import torch
from torch.nn import Linear, ReLU, Sequential


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = Sequential(ReLU(inplace=True), Linear(6, 6))  # forward: x + self.branch(x)

    def forward(self, x):
        return x + self.branch(x)


class FixedBlock(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = Sequential(ReLU(), Linear(6, 6))  # forward: x + self.branch(x)

    def forward(self, x):
        return x + self.branch(x)


def check(device, block):
    torch.nn.init.zeros_(block.branch[1].weight)
    torch.nn.init.ones_(block.branch[1].bias)
    values = [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]
    outputs = block.to(device)(torch.tensor([values], device=device))[0].tolist()
    if outputs == [1.0, 1.0, 1.0, 2.0, 3.0, 4.0]:
        return "the shortcut lost its negative values"
    if outputs != [value + 1 for value in values]:
        return f"the block returns {outputs}"


def reproduce(device):
    return check(device, Block())


def control(device):
    return check(device, FixedBlock())


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
