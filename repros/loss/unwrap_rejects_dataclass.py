# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Unwrapping `predictions` raises for a dataclass, a named tuple or a plain tensor"
# kind = "error"
# symptom = "has no attribute 'items'"
# messages = ["'\\w{0,60}[Oo]utput\\w{0,60}' object has no attribute 'items'"]
# origin = "usage"
# reports = ["https://github.com/huggingface/transformers/issues/34191"]
# documents = ["https://huggingface.co/docs/transformers/main_classes/output"]
# wrong = '''
# TODO
# '''
# fix = "loss.match"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Models return dataclasses and named tuples too; an isinstance(outputs, dict) test
lets them through to .items().
"""

from dataclasses import dataclass

import torch


@dataclass
class Output:
    predictions: dict


def match(outputs):
    if isinstance(outputs, dict) and "predictions" in outputs:  # the published fix
        outputs = outputs["predictions"]
    try:
        outputs.items()
    except AttributeError as error:
        return str(error)


def reproduce(device):
    return match(Output({"horizon_1": torch.ones(2, device=device)}))


def control(device):
    return match({"predictions": {"horizon_1": torch.ones(2, device=device)}})


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
