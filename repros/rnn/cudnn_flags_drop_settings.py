# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cudnn.flags(deterministic=True) switches cuDNN off and resets its other settings"
# kind = "silent"
# symptom = "cuDNN is off inside the block"
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/77467"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/backends.html#torch.backends.cudnn.enabled",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/backends/cudnn/__init__.py",
#     "https://github.com/pytorch/pytorch/pull/91261",
# ]
# wrong = '''
# with torch.backends.cudnn.flags(deterministic=True):
#     loss = criterion(model(x), y)
#     loss.backward()
# '''
# right = '''
# before = torch.backends.cudnn.deterministic
# torch.backends.cudnn.deterministic = True
# try:
#     loss = criterion(model(x), y)
#     loss.backward()
# finally:
#     torch.backends.cudnn.deterministic = before
# '''
# fix = "rnn.cudnn_flags"
# use = '''
# from rnn import cudnn_flags
# with cudnn_flags(deterministic=True):
#     loss = criterion(model(x), y)
#     loss.backward()
# '''
# choice = "Use the fix to give a block different flags; use the lines without the fix to avoid copying a file"
# rule = "warning"
# when = "the code in the with block runs on CUDA"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""Inside `with cudnn.flags(deterministic=True)`, cuDNN is switched off without a warning.

Every call to flags() changes all settings. Omitted settings get the defaults of flags(), and its
default for `enabled` is False (torch/backends/cudnn/__init__.py). The `enabled` setting controls
whether cuDNN is used (docs: torch.backends.cudnn.enabled), so the other settings that you pass have
no effect (pytorch#91261). PyTorch's own tests made this mistake (pytorch#77467). Even if you also
pass enabled=True, benchmark is False and allow_tf32 is True inside the block, whatever they were
before.

This reproducer only reads the settings. The code that replaces cuDNN on a GPU was not measured.
"""

import torch
from torch.backends import cudnn

NAMES = "enabled", "benchmark", "deterministic", "allow_tf32"


def read():
    return {name: getattr(cudnn, name) for name in NAMES}


class Model(torch.nn.Linear):
    def forward(self, x):
        self.inside = read()
        return super().forward(x)


def check(device, step):
    before = read()
    model, x = Model(3, 1).to(device), torch.ones(2, 3, device=device)
    try:
        cudnn.enabled, cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32 = (
            True,
            True,
            False,
            False,
        )
        set_before = read()
        step(model, torch.nn.MSELoss(), x, torch.zeros(2, 1, device=device))
        after = read()
    finally:
        for name in NAMES:
            setattr(cudnn, name, before[name])
    if not model.inside["enabled"]:
        return "cuDNN is off inside the block"
    if model.inside != {**set_before, "deterministic": True}:
        return f"inside the block: {model.inside}"
    if after != set_before:
        return f"after the block: {after}"


def reproduce(device):
    def step(model, criterion, x, y):
        with torch.backends.cudnn.flags(deterministic=True):
            loss = criterion(model(x), y)
            loss.backward()

    return check(device, step)


def control(device):
    def step(model, criterion, x, y):
        before = torch.backends.cudnn.deterministic
        torch.backends.cudnn.deterministic = True
        try:
            loss = criterion(model(x), y)
            loss.backward()
        finally:
            torch.backends.cudnn.deterministic = before

    return check(device, step)


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
