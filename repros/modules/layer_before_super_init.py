# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Assigning a layer before super().__init__() raises"
# kind = "error"
# symptom = "cannot assign module before Module.__init__\\(\\) call"
# messages = [
#     "cannot assign (?:module|parameters?|buffers?) before Module\\.__init__\\(\\) call",
#     "object has no attribute '_(?:modules|parameters|backward_hooks)'",
# ]
# keywords = ["super().__init__() missing", "custom nn.Module cannot be created", "AttributeError in __setattr__"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/37824",
#     "https://github.com/Genentech/gReLU/issues/188",
# ]
# wrong = '''
# self.layer = Linear(2, 2)
# super().__init__()
# '''
# right = '''
# super().__init__()
# self.layer = Linear(2, 2)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The traceback ends in torch's __setattr__, below the line of __init__ that makes a layer.

Module.__init__() makes the dictionaries that a layer is registered in
(torch/nn/modules/module.py), so super().__init__() has to come first, and is easily
forgotten altogether (Genentech/gReLU#188).
"""

import torch
from torch.nn import Linear


class Late(torch.nn.Module):
    def __init__(self):
        self.layer = Linear(2, 2)
        super().__init__()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Linear(2, 2)


def build(device, module):
    try:
        module().to(device)
    except AttributeError as error:
        return str(error)


def reproduce(device):
    return build(device, Late)


def control(device):
    return build(device, Net)


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
