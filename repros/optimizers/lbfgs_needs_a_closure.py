# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "LBFGS fails in a loop that calls step() without a closure"
# kind = "error"
# symptom = "LBFGS\\.step\\(\\) missing 1 required positional argument: 'closure'"
# messages = ["LBFGS\\.step\\(\\) missing 1 required positional argument: .closure."]
# elsewhere = ["TypeError.{1,3}?step\\(\\) missing 1 required positional argument: .closure."]
# origin = "design"
# reports = [
#     "https://github.com/pnnl/neuromancer/issues/244",
#     "https://github.com/pyro-ppl/pyro/issues/1674",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/optim.html#optimizer-step-closure",
#     "https://github.com/NeuroDiffGym/neurodiffeq/issues/83",
# ]
# wrong = '''
# optimizer.zero_grad()
# loss = loss_fn(model(x), y)
# loss.backward()
# optimizer.step()
# '''
# right = '''
# def closure():
#     optimizer.zero_grad()
#     loss = loss_fn(model(x), y)
#     loss.backward()
#     return loss
#
# loss = optimizer.step(closure)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The first step raises a TypeError, because LBFGS evaluates the loss at several points in one step
and needs a function for this (docs: torch.optim). In Python before 3.10, the message lacks
"LBFGS.". In the corrected code, step() returns the loss at the first point, before the step. Clip
gradients inside the closure. LBFGS accepts only one parameter group. The loss has to be the same
function at every point, so do not use dropout, and use all the data as one batch in every step. In
a loop over mini-batches, this code diverges without a line search: the loss of a small network went
from 0.6 to over a million in five epochs. BatchNorm counts each evaluation, often 20 per step, as a
batch. An enabled GradScaler rejects closures, so train without it.

A closure that returns a loss that is already computed (NeuroDiffGym/neurodiffeq#83) avoids the
error. However, the loss is then the same at every point, so LBFGS stops after one step of gradient
descent, far from the minimum. With a real closure, it reaches the minimum at once.
"""

import torch


def start(device):
    model = torch.nn.Linear(1, 1, device=device)
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    x = torch.tensor([[-1.0], [0.0], [4.0]], device=device)
    return model, torch.optim.LBFGS(model.parameters()), torch.nn.functional.mse_loss, x, 3 * x + 2


def check(model, loss):
    weight, bias = (parameter.item() for parameter in model.parameters())
    if abs(weight - 3) > 0.1 or abs(bias - 2) > 0.1:
        return f"the weight ended at {weight:.1f} and the bias at {bias:.1f}, not at 3 and 2"
    if abs(loss.item() - 67) > 0.1:  # the mean of 1, 4 and 196, the squares of y
        return f"the loss before the step is {loss.item():.1f} instead of 67.0"


def reproduce(device):
    model, optimizer, loss_fn, x, y = start(device)
    try:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
    except TypeError as error:
        return str(error)


def control(device):
    model, optimizer, loss_fn, x, y = start(device)

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    return check(model, loss)


def popular_fix(device):
    model, optimizer, loss_fn, x, y = start(device)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step(lambda: loss)
    return check(model, loss)


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
