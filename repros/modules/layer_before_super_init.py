# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Assigning a layer before calling super().__init__() raises AttributeError"
# kind = "error"
# symptom = "cannot assign module before Module.__init__\\(\\) call"
# messages = [
#     'cannot assign module before Module\.__init__\(\) call',
#     'cannot assign parameters? before Module\.__init__\(\) call',
#     'cannot assign buffers? before Module\.__init__\(\) call',
#     "'(?!(?:NoneType|dict|list|tuple|set|str|int|float|function|method|type|module|Tensor)')\\w{1,60}' object has no attribute '_(modules|parameters|backward_hooks)'",
# ]
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
"""The traceback ends in torch's __setattr__, which is called by the line of __init__ that creates a
layer.

The dictionaries in which layers are registered are created by Module.__init__()
(torch/nn/modules/module.py), so super().__init__() has to come first. This call is easily forgotten
(Genentech/gReLU#188), and the generated __init__() of a dataclass does not contain it. If a mixin
comes before Module, and its own __init__() does not call super().__init__(), the call does not
reach Module either.
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


class Never(torch.nn.Module):
    def __init__(self):
        pass

    def forward(self, x):
        return x


def text(call):
    try:
        call()
    except AttributeError as error:
        return str(error)


def reproduce(device):
    return text(lambda: Late().to(device))


def control(device):
    model, x = Net().to(device), torch.ones(1, 2, device=device)
    expected = x @ model.layer.weight.T + model.layer.bias
    if len(list(model.parameters())) != 2 or not torch.allclose(model.layer(x), expected):
        return "the layer is not that of the model"


def messages(device):
    weight = torch.nn.Parameter(torch.ones(1, device=device))
    calls = (
        lambda: setattr(Never(), "weight", weight),
        lambda: Never().register_buffer("mean", torch.ones(1)),
        lambda: Never().to(device),
        lambda: list(Never().parameters()),
        lambda: Never()(torch.ones(1)),
    )
    return "\n".join(str(text(call)) for call in calls)


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
