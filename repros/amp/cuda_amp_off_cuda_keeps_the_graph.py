# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "CUDA autocast and GradScaler on a machine without CUDA do not cut the graph"
# kind = "error"
# symptom = "element 0 of tensors does not require grad"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/126527", "https://github.com/pytorch/pytorch/issues/99272"]
# wrong = '''
# TODO
# '''
# fix = "amp.choose_precision"
# affected = { cpu = "never", mps = "never" }
# ///
"""A negative control: the widespread story that torch.cuda.amp on CPU or MPS
disconnects the gradients is not true.

autocast("cuda") and GradScaler warn, switch themselves off, and all gradients arrive.
Look for no_grad forwards in the same autocast block (autocast_cache_under_no_grad),
detach(), or frozen parameters.
"""

import warnings

import torch


def train(device, enabled):
    model = torch.nn.Linear(4, 1).to(device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scaler = torch.cuda.amp.GradScaler(enabled=enabled)
        with torch.autocast("cuda", enabled=enabled):
            loss = model(torch.ones(2, 4, device=device)).sum()
    try:
        scaler.scale(loss).backward()
    except RuntimeError as error:
        return str(error)
    if any(parameter.grad is None for parameter in model.parameters()):
        return "parameters without a gradient"


def reproduce(device):
    return train(device, enabled=True)


def control(device):
    return train(device, enabled=False)


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
