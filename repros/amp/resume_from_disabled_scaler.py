# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The state of a disabled GradScaler cannot be loaded into an enabled one"
# kind = "error"
# symptom = "The source state dict is empty"
# messages = ["The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler"]
# origin = "design"
# reports = ["https://github.com/lucidrains/lightweight-gan/issues/103"]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/grad_scaler.py"]
# wrong = '''
# scaler = GradScaler(device, enabled=use_amp)  # torch.amp.GradScaler
# scaler.load_state_dict(checkpoint["scaler"])
# '''
# right = '''
# scaler = GradScaler(device, enabled=use_amp)  # torch.amp.GradScaler
# if checkpoint.get("scaler"):  # {} of a scaler that was off
#     scaler.load_state_dict(checkpoint["scaler"])
# '''
# fix = "amp.load_scaler_state"
# use = '''
# from amp import load_scaler_state
# scaler = GradScaler(device, enabled=use_amp)  # torch.amp.GradScaler
# load_scaler_state(scaler, checkpoint.get("scaler", {}))
# '''
# choice = "Normally, use the lines without the fix; use the fix if the program should know whether a state was loaded"
# rule = "warning"
# when = "a run without AMP is resumed with AMP"
# requires_on = { cpu = ">=2.3", mps = ">=2.3" }
# affected = { cpu = ">=2.3", cuda = ">=1.13", mps = ">=2.3" }
# ///
"""Resuming a run fails once mixed precision is turned on (lucidrains/lightweight-gan#103).

The state_dict() of a disabled scaler is empty, and load_state_dict() of an enabled scaler rejects
an empty state (torch/amp/grad_scaler.py). The reverse case causes no error: a disabled scaler
ignores any state that it loads.

Before torch 2.3, torch.cuda.amp.GradScaler is the only scaler, and it has no argument for the
device. If `device` is passed to this scaler, it uses `device` as its scale, and scale() raises a
TypeError (torch/cuda/amp/grad_scaler.py).
"""

import torch

if hasattr(torch.amp, "GradScaler"):
    GradScaler = torch.amp.GradScaler
else:  # before torch 2.3, for CUDA alone

    def GradScaler(device, enabled=True):
        return torch.cuda.amp.GradScaler(enabled=enabled)


def save(device, use_amp):
    scaler = GradScaler(device, enabled=use_amp)
    scaler.scale(torch.ones((), device=device))  # fails where there is no such device
    if use_amp:
        scaler.update(1024.0)
    return {"scaler": scaler.state_dict()}


def reproduce(device):
    checkpoint, use_amp = save(device, use_amp=False), True
    try:
        scaler = GradScaler(device, enabled=use_amp)  # torch.amp.GradScaler
        scaler.load_state_dict(checkpoint["scaler"])
    except RuntimeError as error:
        return str(error)


def control(device):
    use_amp = True
    for was_on, expected in ((False, 65536.0), (True, 1024.0)):
        checkpoint = save(device, was_on)
        scaler = GradScaler(device, enabled=use_amp)  # torch.amp.GradScaler
        if checkpoint.get("scaler"):  # {} of a scaler that was off
            scaler.load_state_dict(checkpoint["scaler"])
        if scaler.get_scale() != expected:
            return f"the scale is {scaler.get_scale()} instead of {expected}"


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
