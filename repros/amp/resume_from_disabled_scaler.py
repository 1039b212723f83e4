# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A checkpoint saved where the GradScaler was off cannot be resumed where it is on"
# kind = "error"
# symptom = "The source state dict is empty"
# messages = ["The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler"]
# keywords = [
#     "cannot resume training after switching on mixed precision",
#     "checkpoint from CPU run does not load with amp",
#     "scaler state is empty when restarting",
#     "continue a float32 run in fp16",
# ]
# origin = "design"
# reports = ["https://github.com/lucidrains/lightweight-gan/issues/103"]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/grad_scaler.py"]
# wrong = '''
# saved = torch.amp.GradScaler(device, enabled=saved_enabled).state_dict()
# scaler = torch.amp.GradScaler(device)
# scaler.load_state_dict(saved)
# '''
# right = '''
# load_scaler_state(scaler, saved)
# '''
# fix = "amp.load_scaler_state"
# rule = "warning"
# when = "a run without AMP is resumed with AMP"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.3" }
# ///
"""Resuming a run raises once mixed precision is turned on
(lucidrains/lightweight-gan#103).

The state_dict() of a disabled scaler is empty, and load_state_dict() of an enabled one
refuses an empty one (torch/amp/grad_scaler.py).
"""

import torch


def resume(device, saved_enabled):
    saved = torch.amp.GradScaler(device, enabled=saved_enabled).state_dict()
    scaler = torch.amp.GradScaler(device)
    scaler.scale(torch.ones((), device=device))  # fails where there is no such device
    try:
        scaler.load_state_dict(saved)
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
