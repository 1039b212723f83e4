# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A checkpoint saved where the scaler was off cannot be resumed where it is on"
# kind = "error"
# symptom = "The source state dict is empty"
# messages = ["The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler"]
# origin = "usage"
# documents = ["https://pytorch.org/docs/stable/amp.html"]
# wrong = '''
# TODO
# '''
# fix = "amp.load_scaler_state"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.3" }
# ///
"""A disabled scaler's state_dict() is {}, and an enabled one refuses to load that: CPU
runs resumed on CUDA end here.
"""

import torch


def resume(device, saved_enabled):
    saved = torch.amp.GradScaler(device, enabled=saved_enabled).state_dict()
    try:
        torch.amp.GradScaler(device).load_state_dict(saved)
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return resume(device, saved_enabled=False)


def control(device):
    return resume(device, saved_enabled=True)


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
