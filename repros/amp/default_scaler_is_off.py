# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.amp.GradScaler() without a device does nothing on a machine without CUDA"
# kind = "silent"
# symptom = "the loss is multiplied by 1"
# messages = ["GradScaler is enabled, but CUDA is not available"]
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/147731"]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/grad_scaler.py",
#     "https://github.com/pytorch/pytorch/pull/196195",
# ]
# wrong = '''
# model.to(device)
# scaler = torch.amp.GradScaler()
# '''
# right = '''
# model.to(device)
# scaler = torch.amp.GradScaler(device)
# '''
# fix = "amp.make_grad_scaler"
# use = '''
# from amp import choose_precision, make_grad_scaler
# model.to(device)
# scaler = make_grad_scaler(choose_precision(device, torch.float16))
# '''
# choice = "Use the lines without the fix (on MPS, they need torch 2.8 or newer). If the program runs on CPU, CUDA and MPS, use the fix, which rejects configurations that cannot train, and any other device, such as an Intel GPU"
# rule = "warning"
# when = "the code runs on a device other than CUDA"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = "never", mps = ">=2.3" }
# ///
"""The loss is not scaled, and the only sign is a single warning.

The device of torch.amp.GradScaler defaults to "cuda", and a scaler for CUDA disables itself if CUDA
is not available (torch/amp/grad_scaler.py). The same happens on Intel GPUs (pytorch#147731,
pytorch#196195) and, according to the source, on MPS (not measured). pytorch#196195 proposes
changing the default. An explicit GradScaler("cuda") emits the same warning if the machine has a GPU
that torch does not detect. The corrected code does not help in that case, because a scaler for CUDA
works only if torch.cuda.is_available() returns True (torch/amp/grad_scaler.py).

Before torch 2.8, an enabled scaler on MPS raises an error in its first step (see
amp/scaler_on_mps_needs_float64). An enabled scaler cannot load the state of a disabled scaler (see
amp/resume_from_disabled_scaler).
"""

import warnings

import torch


def scaled(device, scaler):
    loss = scaler.scale(torch.ones((), device=device))
    if loss != 65536:
        return f"the loss is multiplied by {loss.item():.0f}, is_enabled() is {scaler.is_enabled()}"


def reproduce(device):
    model = torch.nn.Linear(1, 1)
    model.to(device)
    scaler = torch.amp.GradScaler()
    return scaled(device, scaler)


def control(device):
    model = torch.nn.Linear(1, 1)
    model.to(device)
    scaler = torch.amp.GradScaler(device)
    return scaled(device, scaler)


def messages(device):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.amp.GradScaler()
    return "\n".join(str(warning.message) for warning in caught)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
