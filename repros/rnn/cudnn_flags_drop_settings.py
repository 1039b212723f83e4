# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "cudnn.flags(deterministic=True) switches cuDNN off"
# kind = "silent"
# symptom = "cuDNN is off inside the block"
# keywords = [
#     "training gets much slower inside the deterministic block",
#     "convolutions slow after asking for deterministic cudnn",
#     "GPU speed drops when using the cudnn context manager",
#     "cudnn.enabled is False although I never disabled it",
#     "with torch.backends.cudnn.flags benchmark setting makes it slow",
#     "LSTM slow within cudnn flags context",
#     "setting only benchmark=True in the context makes things worse",
#     "context manager for reproducibility slows everything down",
#     "memory use goes up inside the cudnn block",
#     "why is cudnn not used in my block",
# ]
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/77467"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/backends.html#torch.backends.cudnn.enabled",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/backends/cudnn/__init__.py",
#     "https://github.com/pytorch/pytorch/pull/91261",
# ]
# wrong = '''
# with torch.backends.cudnn.flags(deterministic=True):
#     ...  # without cuDNN
# '''
# right = '''
# with torch.backends.cudnn.flags(enabled=True, deterministic=True):
#     ...
# '''
# fix = "rnn.cudnn_flags"
# rule = "warning"
# when = "the block runs on CUDA"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""Inside `with cudnn.flags(deterministic=True)`, cuDNN is off, without a warning.

flags() sets every setting, those that it was not given to its own defaults, and its
default of `enabled` is False (torch/backends/cudnn/__init__.py). `enabled` controls
whether cuDNN is used at all (docs: torch.backends.cudnn.enabled), so that the settings
that were given are useless (pytorch#91261). PyTorch's own tests made the mistake
(pytorch#77467).

This file reads the switch. What runs in place of cuDNN on a GPU is not measured.
"""

from torch.backends import cudnn


def inside(**settings):
    with cudnn.flags(**settings):
        if not cudnn.enabled:
            return "cuDNN is off inside the block"


def reproduce(device):
    return inside(deterministic=True)


def control(device):
    return inside(enabled=True, deterministic=True)


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
