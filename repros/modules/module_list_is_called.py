# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A ModuleList cannot be called, because it holds layers but has no forward()"
# kind = "error"
# symptom = "Module \\[ModuleList\\] is missing the required .forward. function"
# messages = [
#     'Module \[ModuleList\] is missing the required .forward. function',
#     'Module \[ModuleDict\] is missing the required .forward. function',
# ]
# origin = "design"
# reports = [
#     "https://github.com/cloneofsimo/paint-with-words-sd/issues/2",
#     "https://github.com/yuval-alaluf/Attend-and-Excite/issues/5",
#     "https://github.com/chenziwenhaoshuai/Vision-KAN/issues/3",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.Sequential.html"]
# wrong = '''
# layers = ModuleList([Linear(2, 2), Linear(2, 2)])
# layers(x)
# '''
# right = '''
# layers = torch.nn.Sequential(Linear(2, 2), Linear(2, 2))
# layers(x)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The layers are registered, but calling the list raises an error.

Unlike Sequential, ModuleList does not define the order in which its modules run (docs:
torch.nn.Sequential). After a library update, an attribute that used to be a layer may be a list of
layers (cloneofsimo/paint-with-words-sd#2). A ModuleDict cannot be called either: call one of its
modules, as in layers["head"](x). Sequential accepts one input and passes on one output. If layers
take more inputs, such as a mask, or return a tuple, as LSTM does, call them in a loop over the
ModuleList.
"""

import torch
from torch.nn import Linear, ModuleList


def reproduce(device):
    x = torch.ones(1, 2)
    try:
        layers = ModuleList([Linear(2, 2), Linear(2, 2)])
        layers(x)
    except NotImplementedError as error:
        return str(error)


def control(device):
    x = torch.ones(1, 2)
    layers = torch.nn.Sequential(Linear(2, 2), Linear(2, 2))
    layers(x)
    if not torch.equal(layers(x), layers[1](layers[0](x))):
        return "the layers do not run one after the other"


def messages(device):
    try:
        torch.nn.ModuleDict({"head": Linear(2, 2)})(torch.ones(1, 2))
    except NotImplementedError as error:
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
