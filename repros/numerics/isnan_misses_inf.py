# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "An isnan() check on the loss lets an infinite loss ruin the weights"
# kind = "silent"
# symptom = "the loss was inf, the weight is -inf"
# keywords = [
#     "nan check does not catch inf",
#     "loss inf then nan",
#     "I check for nan and the model still breaks",
#     "loss inf passes my torch.isnan check",
#     "weights become inf or nan despite a nan guard",
#     "skip batch if loss is nan does not help",
#     "infinite loss is not skipped",
#     "model ruined although nan losses are skipped",
#     "nan guard in the training loop misses bad batches",
#     "assert not torch.isnan(loss) passes, next loss nan",
#     "loss printed inf once and then nan forever",
#     "parameters are -inf after one step",
#     "how to detect inf and nan in the loss",
# ]
# origin = "usage"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.isfinite.html",
#     "https://github.com/inferno-pytorch/inferno/pull/119",
# ]
# wrong = '''
# if not loss.isnan():
#     optimizer.step()
# '''
# right = '''
# if loss.isfinite():
#     optimizer.step()
# '''
# fix = "numerics.clip_or_skip"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The check passes, the step is taken and the weight is -inf, because the loss is inf and
isnan(inf) is False.

isfinite() is False for both (docs: torch.isfinite); a NaN detector was changed to it
for that reason (inferno-pytorch/inferno#119).
"""

import torch


def step(device, check):
    weight = torch.ones((), device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    loss = (weight * 100).exp()  # overflows in float32
    loss.backward()
    if check(loss):
        optimizer.step()
    if not weight.isfinite():
        return f"the loss was {loss.item()}, the weight is {weight.item()}"


def reproduce(device):
    return step(device, check=lambda loss: not loss.isnan())


def control(device):
    return step(device, check=lambda loss: loss.isfinite())


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
