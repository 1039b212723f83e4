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
# choice = "Take the lines, on MPS from torch 2.8 on; the fix where the program runs on CPU, CUDA and MPS, as it refuses what cannot train, and any other device, such as an Intel GPU"
# rule = "warning"
# when = "it runs on another device than CUDA"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = "never", mps = ">=2.3" }
# ///
"""The loss is not scaled, and a single warning tells.

The device of torch.amp.GradScaler is "cuda" unless another is given, and a scaler for
CUDA switches itself off where CUDA is missing (torch/amp/grad_scaler.py). It is the
same on Intel GPUs (pytorch#147731, pytorch#196195), and on MPS by the source (not
measured). A change of the default is proposed (pytorch#196195).
GradScaler("cuda") warns the same if torch does not see a GPU that is there, and the lines do not
help: torch.cuda.is_available() has to become True (torch/amp/grad_scaler.py).

On MPS a scaler that is on raises in its first step before torch 2.8:
amp/scaler_on_mps_needs_float64.
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
