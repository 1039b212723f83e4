# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A backward() after unscale_() adds gradients that are 65536 times too large"
# kind = "silent"
# symptom = "step is .* long instead of 2"
# keywords = [
#     "gradients explode with gradient accumulation",
#     "loss explodes with mixed precision",
#     "loss shoots up to huge values with amp and accumulation",
#     "mixed precision diverges, full precision is fine",
#     "weights blow up after the first step with GradScaler",
#     "loss becomes enormous when using two losses and clipping",
#     "training explodes as soon as gradient clipping and amp combine",
#     "second backward makes the update enormous",
#     "gradient norm around 1e5 with mixed precision",
#     "works without amp, diverges immediately with it",
#     "parameters jump to huge numbers after one update",
#     "GAN with amp explodes after adding gradient clipping",
#     "clip inside the accumulation loop makes training unstable",
# ]
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping",
#     "https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation",
# ]
# wrong = '''
# scaler.unscale_(optimizer)
# scaler.scale(loss).backward()
# scaler.step(optimizer)
# '''
# right = '''
# scaler.scale(loss).backward()
# scaler.unscale_(optimizer)
# scaler.step(optimizer)
# '''
# fix = "amp.optimizer_step"
# rule = "error"
# when = "AMP is on (float16)"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""A step is 65536 times too long: it was taken with a sum of unscaled and scaled
gradients.

unscale_() divides the gradients that are there when it is called. Those of a later
backward() are added with the scale in them, and step() does not divide again, because
it remembers that unscale_() was called (torch/amp/grad_scaler.py). unscale_() belongs
after the last backward() of a step (docs: Automatic Mixed Precision examples). Called
after each of them, it raises: amp/unscale_twice.
"""

import torch


def train(device, unscale_first):
    scaler = torch.amp.GradScaler(device)
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler.scale(weight.sum()).backward()
    if unscale_first:
        scaler.unscale_(optimizer)
    loss = weight.sum()
    scaler.scale(loss).backward()
    if not unscale_first:
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    if weight != -2:
        return f"the step is {-weight.item():.0f} long instead of 2"


def reproduce(device):
    return train(device, unscale_first=True)


def control(device):
    return train(device, unscale_first=False)


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
