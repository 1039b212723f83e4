# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model whose __init__ is misspelled has no layers, so its optimizer gets no parameters"
# kind = "error"
# symptom = "optimizer got an empty parameter list"
# messages = ["optimizer got an empty parameter list"]
# origin = "usage"
# reports = ["https://github.com/mikeizbicki/cmc-csci181-deeplearning/issues/7"]
# wrong = '''
# def _init_(self):
#     super()._init_()
#     self.layer = Linear(2, 2)
# '''
# right = '''
# def __init__(self):
#     super().__init__()
#     self.layer = Linear(2, 2)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Python accepts the class, but print(model) shows no layers, and the optimizer raises an error.

Python calls __init__, with two underscores on each side, and finds only Module's __init__. The
method named _init_ never runs (mikeizbicki/cmc-csci181-deeplearning#7). If _init_ has arguments,
Net(3) raises a TypeError: __init__() takes 1 positional argument.
"""

import torch
from torch.nn import Linear


class Misspelt(torch.nn.Module):
    def _init_(self):
        super()._init_()
        self.layer = Linear(2, 2)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Linear(2, 2)


def configure(device, module):
    model = module().to(device)
    try:
        torch.optim.SGD(model.parameters(), lr=0.1)
    except ValueError as error:
        return str(error)


def reproduce(device):
    return configure(device, Misspelt)


def control(device):
    return configure(device, Net)


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
