# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "unscale_() raises when update() was not called since the last one"
# kind = "error"
# symptom = "unscale_\\(\\) has already been called"
# messages = ["unscale_\\(\\) has already been called on this optimizer since the last update\\(\\)"]
# keywords = ["skipping a step with a NaN gradient crashes the next step"]
# origin = "design"
# reports = [
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/4148",
#     "https://github.com/microsoft/Swin-Transformer/issues/311",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping",
#     "https://github.com/Haian-Jin/LVSM/pull/19",
#     "https://github.com/espnet/espnet/pull/2362",
# ]
# wrong = '''
# scaler.unscale_(optimizer)
# ...  # no update() after a step that was left out
# '''
# right = '''
# scaler.unscale_(optimizer)
# scaler.update()  # also after a step that was left out
# '''
# fix = "amp.optimizer_step"
# rule = "error"
# when = "AMP is on (float16) and the window is above 1, or update() is never called"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""The step after one that was skipped for its bad gradient raises (Haian-Jin/LVSM#19,
espnet/espnet#2362).

unscale_() is allowed once per optimizer between two calls of update()
(torch/amp/grad_scaler.py), and update() was skipped with the step. Other loops call
unscale_() in every batch of an accumulation window (microsoft/Swin-Transformer#311), or
never call update() (Lightning-AI/pytorch-lightning#4148).
"""

import torch


def train(device, update_always):
    scaler = torch.amp.GradScaler(device)
    weight = torch.ones(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    try:
        for _ in range(2):
            scaler.scale(weight.sum() * float("inf")).backward()
            scaler.unscale_(optimizer)
            finite = weight.grad.isfinite()
            if finite:
                scaler.step(optimizer)
            if finite or update_always:
                scaler.update()
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return train(device, update_always=False)


def control(device):
    return train(device, update_always=True)


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
