# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Code that looks for the outputs under only one key silently returns a zero loss if the key has another name"
# kind = "silent"
# symptom = "silent zero for nested, renamed, UserDict"
# origin = "usage"
# documents = ["https://docs.python.org/3/library/collections.html#collections.UserDict"]
# wrong = '''
# if isinstance(outputs, dict) and "predictions" in outputs:
#     outputs = outputs["predictions"]
# '''
# fix = "loss.match_by_name"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# retired = "nobody has reported this failure; its fault is the fallback to zero, which loss/mismatch_zero_is_silent shows"
# ///
"""The condition covers only one name, at one depth, in one class. For example, a UserDict is not a
dict (docs: collections.UserDict). In all other cases, the loss still falls back to zero.
"""

from collections import UserDict

import torch


def loss_of(outputs):
    if isinstance(outputs, dict) and "predictions" in outputs:
        outputs = outputs["predictions"]
    terms = [value.mean() for name, value in outputs.items() if name == "price"]
    return sum(terms) if terms else torch.tensor(0.0, requires_grad=True)


def silent_zeros(device, shapes):
    found = {"price": torch.ones(2, device=device, requires_grad=True)}
    zeros = [name for name, wrap in shapes.items() if loss_of(wrap(found)) == 0]
    if zeros:
        return f"silent zero for {', '.join(zeros)}"


def reproduce(device):
    shapes = {
        "nested": lambda found: {"predictions": {"predictions": found}},
        "renamed": lambda found: {"outputs": found},
        "UserDict": lambda found: UserDict(predictions=found),
    }
    return silent_zeros(device, shapes)


def control(device):
    return silent_zeros(device, {"wrapped": lambda found: {"predictions": found}})


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
