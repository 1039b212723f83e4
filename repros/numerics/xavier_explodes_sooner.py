# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Xavier's bound for a square nn.Linear is sqrt(3) times the default bound"
# kind = "silent"
# symptom = "1.73 times the default bound"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/nn.init.html#torch.nn.init.xavier_uniform_",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html",
#     "https://github.com/pytorch/pytorch/issues/57109",
# ]
# wrong = '''
# torch.nn.init.xavier_uniform_(layer.weight)  # "PyTorch has no initialisation"
# '''
# fix = "numerics.clip_or_skip"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# retired = "the explosion occurred only for input scales from 8 to 25, and nobody has reported it; numerics/sgd_explosion covers the rest"
# ///
"""By default, nn.Linear initializes its weights uniformly within a bound of 1/sqrt(fan_in)
(pytorch#57109). The bound of xavier_uniform_() is sqrt(6 / (fan_in + fan_out)), which is 1.73 times
as large for a square layer (docs: torch.nn.init).
"""

import torch


def bound(device, initialise):
    layer = torch.nn.Linear(64, 64).to(device)
    initialise(layer.weight)
    ratio = layer.weight.abs().max().item() * 64**0.5
    if ratio > 1.5:
        return f"{ratio:.2f} times the default bound"


def reproduce(device):
    return bound(device, torch.nn.init.xavier_uniform_)


def control(device):
    return bound(device, lambda weight: None)


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
