# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A strict load_state_dict does not report keys nested under a parameter's name"
# kind = "silent"
# symptom = "weight.scale was not loaded, and nobody said so"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/123510"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/124385",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/module.py",
# ]
# fixed_by = "pytorch#124385"
# wrong = '''
# layer.load_state_dict(checkpoint)
# '''
# fix = "upgrade"
# affected = { cpu = "<2.4", cuda = "<2.4", mps = "<2.4" }
# ///
"""In strict mode, load_state_dict() accepts a checkpoint that contains more than the model.

load_state_dict() looked up an unexpected key by the part before its first dot. It therefore mistook
the key `weight.scale` for a part of the parameter `weight`, but nothing loaded this key
(torch/nn/modules/module.py, pytorch#123510). Keys nested under a buffer are accepted too, and the
result of strict=False does not list them. If a layer was replaced with None, as in model.fc = None,
no release reports the layer's keys. If it is replaced with torch.nn.Identity() instead, its keys
are reported as unexpected.
"""

import torch


def load(device, key):
    layer = torch.nn.Linear(1, 1, device=device)
    checkpoint = {**layer.state_dict(), key: torch.ones(1)}
    try:
        layer.load_state_dict(checkpoint)
    except RuntimeError as error:
        if "Unexpected key" not in str(error):
            raise
    else:
        return f"{key} was not loaded, and nobody said so"


def reproduce(device):
    return load(device, "weight.scale")


def control(device):
    return load(device, "scale")


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
