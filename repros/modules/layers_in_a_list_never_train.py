# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Layers in a Python list never train because parameters() does not yield their weights"
# kind = "silent"
# symptom = "2 of 3 layers did not learn"
# messages = ["optimizer got an empty parameter list"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/59925",
#     "https://github.com/pytorch/pytorch/issues/666",
#     "https://github.com/pytorch/pytorch/issues/1053",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html"]
# wrong = '''
# self.hidden = [Linear(2, 2), Linear(2, 2)]
# '''
# right = '''
# self.hidden = torch.nn.ModuleList([Linear(2, 2), Linear(2, 2)])
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss falls because the layers outside the list learn. If all layers are in the list, the
optimizer raises an error instead, because it gets no parameters.

A module registers the modules that are assigned to it, but a list is not a module (pytorch#59925).
The methods parameters(), to(), state_dict() and eval() therefore do not reach the layers in it
(pytorch#1053). If to(device) or double() was called on the model, its forward pass raises an error.
Otherwise the model fails silently. Layers that you add to the optimizer by hand do train.

A module does not register a dict either, but it does register a torch.nn.ModuleDict. Its keys have
to be strings without a dot, and cannot be the name of a method, such as "train". Layers in a local
variable are not registered either. Passing list(model.parameters()) to the optimizer does not help,
because this list is empty too. A checkpoint that was saved from the list lacks its layers, and a
strict load into the ModuleList reports the missing keys.
"""

import torch
from torch.nn import Linear


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Linear(2, 1)
        self.hidden = [Linear(2, 2), Linear(2, 2)]


class Registered(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Linear(2, 1)
        self.hidden = torch.nn.ModuleList([Linear(2, 2), Linear(2, 2)])


def train(device, module):
    model = module().to(device)
    layers = [model.head, *model.hidden]
    for layer in layers:
        layer.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = [layer.weight.clone() for layer in layers]
    x = torch.ones(1, 2, device=device)
    for layer in reversed(layers):
        x = layer(x)
    x.sum().backward()
    optimizer.step()
    steps = [old - 0.1 * layer.weight.grad for layer, old in zip(layers, before)]
    kept = sum(not torch.allclose(layer.weight, new) for layer, new in zip(layers, steps))
    if kept:
        return f"{kept} of 3 layers did not learn"


def reproduce(device):
    return train(device, Plain)


def control(device):
    return train(device, Registered)


def messages(device):
    model = Plain()
    del model.head
    try:
        torch.optim.SGD(list(model.parameters()), lr=0.1)
    except ValueError as error:
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
