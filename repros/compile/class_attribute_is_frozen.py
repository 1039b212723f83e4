# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.compile does not notice that a number, string or flag of a class has changed"
# kind = "silent"
# symptom = "multiplied by the class attribute of before, 1\\.0, not by 2\\.0"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/176851"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/124802",
#     "https://github.com/pytorch/pytorch/pull/177191",
# ]
# fixed_by = "pytorch#177191"
# wrong = '''
# compiled = torch.compile(lambda x: x * Config.factor, backend=backend)
# compiled(x)
# Config.factor = 2.0
# '''
# right = '''
# config = Config()
# compiled = torch.compile(lambda x: x * config.factor, backend=backend)
# compiled(x)
# config.factor = 2.0
# '''
# fix = "upgrade"
# requires = ">=2.1"
# affected = { cpu = ">=2.4,<2.12", cuda = ">=2.4,<2.12" }
# ///
"""A compiled function that reads Config.factor keeps using the first value after the attribute
changes. Torch 2.2 still noticed the change (pytorch#176851). Strings, flags, tuples and None are
frozen as well. A list is frozen too: a list that replaces it has no effect.

After pytorch#124802, Dynamo gave this class attribute no source, and therefore no guard
(UserDefinedClassVariable.var_getattr() in torch/_dynamo/variables/user_defined.py, pytorch#177191).
An instance attribute has a guard (control).
"""

import torch


def start(device):
    class Config:
        factor = 1.0

    return Config, torch.ones(1, device=device), "eager"


def check(compiled, x):
    seen = compiled(x).item()
    if seen != 2.0:
        return f"multiplied by the class attribute of before, {seen}, not by 2.0"


def reproduce(device):
    Config, x, backend = start(device)
    compiled = torch.compile(lambda x: x * Config.factor, backend=backend)
    compiled(x)
    Config.factor = 2.0
    return check(compiled, x)


def control(device):
    Config, x, backend = start(device)
    config = Config()
    compiled = torch.compile(lambda x: x * config.factor, backend=backend)
    compiled(x)
    config.factor = 2.0
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
