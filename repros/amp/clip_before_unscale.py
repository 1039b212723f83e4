# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Clipping scaled gradients turns a step of full length into one 65536 times shorter"
# kind = "silent"
# symptom = "step is .* of the clipped length"
# keywords = ["training very slow", "loss hardly decreases", "tiny steps"]
# origin = "usage"
# reports = ["https://github.com/Lightning-AI/pytorch-lightning/issues/9599", "https://github.com/pytorch/pytorch/issues/40907"]
# documents = ["https://pytorch.org/docs/stable/notes/amp_examples.html"]
# wrong = '''
# TODO
# '''
# fix = "amp.train_epoch"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""Before unscale_() the gradients are 65536 times too long, so clipping to 1 leaves
1/65536 of a true length of 1.

The order is scale, backward, unscale_, clip, step, update.
"""

import torch


def step(device, unscale_first):
    scaler = torch.amp.GradScaler(device)
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler.scale(5 * weight.sum()).backward()
    if unscale_first:
        scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_([weight], max_norm=1.0)
    scaler.step(optimizer)
    if weight.abs() < 0.01:
        return f"step is {weight.abs().item():.1g} of the clipped length"


def reproduce(device):
    return step(device, unscale_first=False)


def control(device):
    return step(device, unscale_first=True)


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
