# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Unwrapping `predictions` cures one model and leaves its relatives at a silent zero loss"
# kind = "silent"
# symptom = "silent zero for nested, renamed, UserDict, int keys"
# origin = "usage"
# reports = ["https://github.com/huggingface/transformers/issues/34191"]
# documents = ["https://docs.python.org/3/library/collections.html#collections.UserDict"]
# wrong = '''
# TODO
# '''
# fix = "loss.match"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""`if isinstance(outputs, dict) and "predictions" in outputs` knows one name at one
depth of one class.

The same dictionary nested once more, under another name, in a UserDict or with integer
keys still matches nothing, and the loss still falls back to zero. The fault is the
fallback, not the depth.
"""

from collections import UserDict

import torch


def loss_of(outputs):
    if isinstance(outputs, dict) and "predictions" in outputs:  # the published fix
        outputs = outputs["predictions"]
    terms = [value.mean() for name, value in outputs.items() if name in ("horizon_1", "horizon_5")]
    return sum(terms) / 2 if terms else torch.tensor(0.0, requires_grad=True)


def silent_zeros(shapes):
    zeros = [name for name, outputs in shapes.items() if loss_of(outputs) == 0]
    if zeros:
        return f"silent zero for {', '.join(zeros)}"


def heads(device):
    one = torch.ones(2, device=device, requires_grad=True)
    return {"horizon_1": one, "horizon_5": one}


def reproduce(device):
    found = heads(device)
    return silent_zeros(
        {
            "nested": {"predictions": {"predictions": found}},
            "renamed": {"outputs": found},
            "UserDict": UserDict(predictions=found),
            "int keys": {"predictions": {1: found["horizon_1"], 5: found["horizon_5"]}},
        }
    )


def control(device):
    found = heads(device)
    return silent_zeros({"flat": found, "wrapped": {"predictions": found}})


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
