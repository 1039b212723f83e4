# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss that expects a mapping fails for a model that returns a dataclass"
# kind = "error"
# symptom = "has no attribute 'items'"
# origin = "usage"
# documents = ["https://docs.python.org/3/library/dataclasses.html"]
# wrong = '''
# for name, value in outputs.items():
#     pass
# '''
# fix = "loss.match_by_name"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# retired = "nobody has reported this failure, and torch has no part in it; loss/mismatch_zero_is_loud shows a loss that matches nothing"
# ///
"""A dataclass has fields, but no items() (docs: dataclasses)."""

from dataclasses import dataclass

import torch


@dataclass
class Output:
    price: torch.Tensor


def names(outputs):
    try:
        for name, value in outputs.items():
            pass
    except AttributeError as error:
        return str(error)


def reproduce(device):
    return names(Output(torch.ones(2, device=device)))


def control(device):
    return names({"price": torch.ones(2, device=device)})


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
