# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.amp.GradScaler() without a device silently does nothing away from CUDA"
# kind = "silent"
# symptom = "enabled=False, scale 1.0"
# messages = ["GradScaler is enabled, but CUDA is not available"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/126527", "https://github.com/pytorch/ignite/issues/2977"]
# wrong = '''
# TODO
# '''
# fix = "amp.make_grad_scaler"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = "never", mps = ">=2.3" }
# ///
"""The default device of the portable name is still "cuda": elsewhere the scaler warns
once and switches itself off.

fp16 gradients then underflow unscaled. The old name, torch.cuda.amp.GradScaler(),
behaves alike.
"""

import torch


def state(scaler):
    if not scaler.is_enabled():
        return f"enabled=False, scale {scaler.get_scale()}"


def reproduce(device):
    return state(torch.amp.GradScaler())


def control(device):
    return state(torch.amp.GradScaler(device))


def popular_fix(device):
    return state(torch.cuda.amp.GradScaler())


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
