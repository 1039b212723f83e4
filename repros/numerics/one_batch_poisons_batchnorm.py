# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "One NaN in a training batch makes BatchNorm predict NaN in eval mode forever"
# kind = "silent"
# symptom = "eval output is nan after 100 clean batches"
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/88474"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html",
#     "https://github.com/pytorch/pytorch/issues/90342",
# ]
# wrong = '''
# for x, y in batches:
#     loss = criterion(model(x), y)
#     if not loss.isfinite():
#         continue  # so that no step is taken
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
# '''
# right = '''
# for x, y in batches:
#     if not x.isfinite().all():
#         continue
#     loss = criterion(model(x), y)
#     if not loss.isfinite():
#         continue  # so that no step is taken
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""In train mode the output is finite again, but in eval mode it is still NaN after 100 clean
batches.

In train mode, the forward pass writes the batch's statistics into the moving averages running_mean
and running_var (docs: torch.nn.BatchNorm1d). Whatever the momentum, clean batches do not remove a
NaN from an average. Channels without a NaN stay finite, but a convolution or a linear layer before
the BatchNorm spreads the NaN to all channels. With track_running_stats=False there is no average.
Skipping the step does not help, because the forward pass has already run, so check the inputs
before it. The loss must still be checked in case a label is NaN. To repair a poisoned model, call
reset_running_stats() on each BatchNorm, and run some clean batches in train mode. With
DistributedDataParallel, all ranks have to skip the step together.

The corrected code detects only bad inputs. For a finite x, the statistics also become bad if a
layer before the BatchNorm overflows, or if a square overflows in running_var, as for an x of 1e20.
To detect this, check the buffers for inf and NaN after the forward pass.
"""

import torch


def start(device):
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(1), torch.nn.Linear(1, 1)).to(device)
    clean = torch.tensor([[0.0], [1.0]], device=device)
    nan, ones = float("nan"), 100 * [1.0]
    batches = [(clean * first, clean) for first in [nan, *ones]] + [(clean, clean * nan)]
    return model, torch.optim.SGD(model.parameters(), lr=0.1), batches


def criterion(output, y):
    return (output - y).square().mean()


def check(model, batches):
    clean = batches[-1][0]
    if not model[1].weight.isfinite():
        return "the label that is nan got into the weights"
    if model(clean).isfinite().all() and model.eval()(clean).isnan().any():
        return "eval output is nan after 100 clean batches"
    mean = model[0].running_mean.item()
    if abs(mean - 0.5) > 1e-3:
        return f"the running mean is {mean:g} instead of 0.5"


def reproduce(device):
    model, optimizer, batches = start(device)
    for x, y in batches:
        loss = criterion(model(x), y)
        if not loss.isfinite():
            continue  # so that no step is taken
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return check(model, batches)


def control(device):
    model, optimizer, batches = start(device)
    for x, y in batches:
        if not x.isfinite().all():
            continue
        loss = criterion(model(x), y)
        if not loss.isfinite():
            continue  # so that no step is taken
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return check(model, batches)


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
