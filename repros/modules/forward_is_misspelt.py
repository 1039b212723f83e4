# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model whose forward is misspelled or indented too far raises NotImplementedError"
# kind = "error"
# symptom = "is missing the required .forward. function"
# messages = ['Module \[(?!Module(?:List|Dict)\])\w{1,60}\] is missing the required .forward. function']
# elsewhere = ["in _forward_unimplemented.{1,60}?raise NotImplementedError"]
# origin = "usage"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/74303",
#     "https://github.com/bubbliiiing/deeplabv3-plus-pytorch/issues/55",
# ]
# wrong = '''
# def foward(self, x):
#     return x + 1
# '''
# right = '''
# def forward(self, x):
#     return x + 1
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The class works until the model is called.

Module itself has a forward() that raises this error, and a method with another name does not
override this forward() (torch/nn/modules/module.py). Either the method is misspelled
(pytorch#74303), or it is indented too far, which makes it a function inside __init__
(bubbliiiing/deeplabv3-plus-pytorch#55). A function at the left margin, outside the class, is not a
method either. If the class inherits from another network, no error is raised, because the inherited
forward() runs. Up to torch 1.11 the error has no text (pytorch#74303).
"""

import torch


class Misspelt(torch.nn.Module):
    def foward(self, x):
        return x + 1


class Net(torch.nn.Module):
    def forward(self, x):
        return x + 1


def predict(device, module):
    try:
        output = module()(torch.ones(1, device=device))
    except NotImplementedError as error:
        return str(error)
    if output.item() != 2:
        return f"1 + 1 = {output.item()}"


def reproduce(device):
    return predict(device, Misspelt)


def control(device):
    return predict(device, Net)


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
