# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An activation class that is called with a tensor raises TypeError or creates a layer"
# kind = "error"
# symptom = '__init__\(\) takes 1 positional argument but 2 were given'
# messages = [
#     '(?:Module|Sigmoid)\.__init__\(\) takes 1 positional argument but 2 were given',
#     "argument 'input' \\(position 1\\) must be Tensor, not (?:ReLU|Flatten|GELU)",
#     "dim must be an int or None, got <class 'torch\\.Tensor'>",
# ]
# elsewhere = [
#     "argument 'input' \\(position 1\\) must be Tensor, not (?:Softmax|LogSoftmax|Sigmoid|Tanh|LeakyReLU|ReLU6|ELU|SELU|CELU|SiLU|Mish|Softplus|Hardswish|Hardsigmoid|GLU|Identity|Dropout)",
#     '(?:Tanh|LogSigmoid|Softsign|Tanhshrink|Softmax2d)\.__init__\(\) takes 1 positional argument but 2 were given',
#     "'(?:ReLU|LeakyReLU|GELU|SiLU|Softmax|LogSoftmax|Flatten)' object has no attribute '(?:view|shape|size|dim|reshape|mean|sum)'",
# ]
# origin = "usage"
# reports = ["https://github.com/tencent-quantum-lab/tensorcircuit/issues/97"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Sigmoid.html",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.ReLU.html",
# ]
# wrong = '''
# y = torch.nn.Sigmoid(x)
# '''
# right = '''
# y = torch.sigmoid(x)  # relu, tanh and softmax (with dim=) also exist as functions
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Sigmoid and Tanh have no options, so they reject the tensor at once
(tencent-quantum-lab/tensorcircuit#97).

Create the layer first, and then call it with the tensor: torch.nn.Sigmoid()(x). Other classes take
the tensor as an option, such as ReLU's inplace (docs: torch.nn.ReLU), and the next layer receives a
module: "must be Tensor, not ReLU". In torch 2.15, Softmax checks the type of dim. Dropout(x)
compares the tensor with 0 and 1, and fails with "Boolean value of Tensor ... is ambiguous".

In forward(), use the function or a layer that __init__() created. Replace Dropout(x) with a layer,
not with torch.nn.functional.dropout(x), which also drops values in eval mode. Before cross_entropy
and BCEWithLogitsLoss, leave out softmax and sigmoid. The message of the TypeError also appears if
your class passes an argument to super().__init__(), or misspells its own __init__() as _init_().
Old releases then name Module, and newer ones your class.
"""

import math

import torch


def reproduce(device):
    x = torch.ones(2, device=device)
    try:
        y = torch.nn.Sigmoid(x)
    except TypeError as error:
        return str(error)
    return f"the output is {y}"


def control(device):
    x = torch.ones(2, device=device)
    y = torch.sigmoid(x)  # relu, tanh and softmax (with dim=) also exist as functions
    if any(abs(value - 1 / (1 + math.exp(-1))) > 1e-4 for value in y.tolist()):
        return f"the output is {y}"


def messages(device):
    texts, one = [], torch.ones(1, 1, device=device)
    for activation in (torch.nn.ReLU, torch.nn.Flatten, torch.nn.GELU, torch.nn.Softmax):
        try:
            torch.nn.Linear(1, 1).to(device)(activation(one))
        except TypeError as error:
            texts.append(str(error))
    return "\n".join(texts)


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
