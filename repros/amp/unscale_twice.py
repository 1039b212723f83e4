# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Skipping a bad step without update() crashes the next one"
# kind = "error"
# symptom = "unscale_\\(\\) has already been called"
# messages = ["unscale_\\(\\) has already been called on this optimizer since the last update\\(\\)"]
# origin = "usage"
# reports = ["https://github.com/Haian-Jin/LVSM/issues/19", "https://github.com/huggingface/transformers/issues/23905", "https://github.com/espnet/espnet/issues/2362"]
# wrong = '''
# TODO
# '''
# fix = "amp.train_epoch"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""unscale_() is allowed once per optimizer between two update() calls; a `continue` on
a bad gradient leaves that mark behind.

zero_grad() clears gradients, not the scaler's mark. Call update() also for the step
that was skipped.
"""

import torch


def two_steps(device, skip):
    scaler = torch.amp.GradScaler(device)
    weight = torch.ones(2, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    try:
        for _ in range(2):
            scaler.scale(weight.sum() * float("inf")).backward()
            scaler.unscale_(optimizer)
            skip(scaler, optimizer)  # the gradient is not finite: no step
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return two_steps(device, lambda scaler, optimizer: None)


def control(device):
    return two_steps(device, lambda scaler, optimizer: scaler.update())


def popular_fix(device):
    return two_steps(device, lambda scaler, optimizer: optimizer.zero_grad())


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
