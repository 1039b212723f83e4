# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A compiled module does not notice that one of its attributes has changed"
# kind = "silent"
# symptom = "multiplied by the attribute of before, 1\\.0, not by 2\\.0"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/98928",
#     "https://github.com/pytorch/pytorch/issues/124357",
#     "https://github.com/pytorch/pytorch/issues/124717",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.3.1/torch/_dynamo/config.py",
#     "https://github.com/pytorch/pytorch/pull/125202",
# ]
# fixed_by = "pytorch#125202"
# wrong = '''
# compiled = torch.compile(model, backend=backend)
# compiled(x)
# model.scale = 2.0
# '''
# right = '''
# from torch import _dynamo
# _dynamo.config.guard_nn_modules = True
# compiled = torch.compile(model, backend=backend)
# compiled(x)
# model.scale = 2.0
# '''
# fix = "upgrade"
# requires = ">=2.1"
# affected = { cpu = "<2.4", cuda = "<2.4" }
# ///
"""A compiled module keeps using the first value of a number, flag or tensor attribute that changes
later, such as an adapter's switch (pytorch#124717). In 2.3, the module does notice eval() and a new
Parameter.

Dynamo made the attribute a constant of the graph and omitted the guards on modules, because
guard_nn_modules was off (torch/_dynamo/config.py). The upstream fix turned this option on
(pytorch#125202), and maintainers recommend turning it on in releases where it is off
(pytorch#124357, control). Set the option before the first call. Set the attribute on the module
itself: in these releases, an attribute that is set on the result of torch.compile() does not reach
the module. In 2.2 and 2.3, Dynamo recompiles for each new value, up to eight values, and then runs
the module uncompiled. If a value changes in every step, keep it in a buffer and set the buffer with
fill_().
"""

import torch
from torch import _dynamo


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1.0

    def forward(self, x):
        return x * self.scale


def check(compiled, x):
    seen = compiled(x).item()
    if seen != 2.0:
        return f"multiplied by the attribute of before, {seen}, not by 2.0"


def reproduce(device):
    model, x, backend = Model(), torch.ones(1, device=device), "eager"
    compiled = torch.compile(model, backend=backend)
    compiled(x)
    model.scale = 2.0
    return check(compiled, x)


def control(device):
    model, x, backend = Model(), torch.ones(1, device=device), "eager"
    with _dynamo.config.patch(guard_nn_modules=False):  # which sets it back
        _dynamo.config.guard_nn_modules = True
        compiled = torch.compile(model, backend=backend)
        compiled(x)
        model.scale = 2.0
        return check(compiled, x)


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
