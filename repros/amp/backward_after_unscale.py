# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A second backward after unscale_ mixes scaled with unscaled gradients"
# kind = "silent"
# symptom = "gradient is .* instead of 2"
# origin = "usage"
# documents = ["https://pytorch.org/docs/stable/notes/amp_examples.html", "https://pytorch.org/docs/stable/amp.html"]
# wrong = '''
# TODO
# '''
# fix = "amp.train_epoch"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""unscale_ in the middle of an accumulation window: the next scale(loss).backward()
adds a gradient 65536 times too long.

The step is then taken with it, because unscale_ runs only once per update().
"""

import torch


def window(device, unscale_each_batch):
    scaler = torch.amp.GradScaler(device)
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    for number in range(2):
        scaler.scale(weight.sum()).backward()
        if number == (0 if unscale_each_batch else 1):
            scaler.unscale_(optimizer)
    if weight.grad != 2:
        return f"gradient is {weight.grad.item():.0f} instead of 2"


def reproduce(device):
    return window(device, unscale_each_batch=True)


def control(device):
    return window(device, unscale_each_batch=False)


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
