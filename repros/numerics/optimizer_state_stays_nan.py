# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Weights restored after a NaN step are NaN again one step later, with Adam or momentum"
# kind = "silent"
# symptom = "2 of 2 clean steps gave nan again"
# origin = "usage"
# reports = ["https://github.com/Trusted-AI/adversarial-robustness-toolbox/issues/910"]
# documents = [
#     "https://github.com/Trusted-AI/adversarial-robustness-toolbox/pull/917",
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html",
# ]
# wrong = '''
# good = copy.deepcopy(model.state_dict())
# for x, y in batches:
#     train_step(model, optimizer, x, y)
#     if not all(p.isfinite().all() for p in model.parameters()):
#         model.load_state_dict(good)
# '''
# right = '''
# import copy
# good = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
# for x, y in batches:
#     train_step(model, optimizer, x, y)
#     if not all(p.isfinite().all() for p in model.parameters()):
#         model.load_state_dict(good[0])
#         optimizer.load_state_dict(copy.deepcopy(good[1]))
# '''
# fix = "numerics.Snapshot"
# use = '''
# from numerics import Snapshot
# good = Snapshot(model, optimizer)
# for x, y in batches:
#     train_step(model, optimizer, x, y)
#     if not all(p.isfinite().all() for p in model.parameters()):
#         good.restore()
# '''
# choice = "Use the lines without the fix for a model and its optimizer; use the fix if a scheduler or an average of the weights has to be restored too"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""After a NaN step, the weights are restored to good values, but the next step, with a clean
gradient, makes them NaN again.

The bad step also made Adam's moments NaN, and every later step is computed from the moments (docs:
torch.optim.Adam). SGD with momentum fails in the same way; plain SGD has no state and does not
fail. Both copies of the optimizer's state are needed. state_dict() refers to the live moments, and
on torch 2.1 and later load_state_dict() keeps the tensors that it is given. Without the second
copy, training would write into the saved tensors, and a second restore would bring back nothing.
The learning rate is restored as well. If the scheduler is not restored, StepLR and ExponentialLR
continue from the restored rate. LambdaLR and OneCycleLR return to their curve at their next step,
and CosineAnnealingLR does neither. The saved state dates from before the loop, so each restore
loses all steps since then: save a new state after some good steps.
"""

import copy

import torch


def start(device):
    model = torch.nn.Linear(1, 1).to(device)
    torch.nn.init.ones_(model.weight)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    ruined = []
    factors = torch.tensor([1.0, float("nan"), 2.0, float("nan"), 3.0], device=device)

    def train_step(model, optimizer, x, y):
        optimizer.zero_grad()
        (model(x) * y).sum().backward()
        optimizer.step()
        if y.isfinite() and model.weight.isnan().any():
            ruined.append(y)

    batches = [(factor.new_ones(1, 1), factor) for factor in factors]
    train_step(model, optimizer, *batches.pop(0))  # the state that is kept is not empty
    return model, optimizer, batches, train_step, ruined


def check(device, model, ruined):
    if ruined:
        return f"{len(ruined)} of 2 clean steps gave nan again"
    expected, optimizer, batches, train_step, _ = start(device)
    train_step(
        expected, optimizer, *batches[-1]
    )  # each bad step took back the one before it as well
    if not torch.allclose(model.weight, expected.weight):
        return f"the weight is {model.weight.item():g} instead of {expected.weight.item():g}"


def reproduce(device):
    model, optimizer, batches, train_step, ruined = start(device)
    good = copy.deepcopy(model.state_dict())
    for x, y in batches:
        train_step(model, optimizer, x, y)
        if not all(p.isfinite().all() for p in model.parameters()):
            model.load_state_dict(good)
    return check(device, model, ruined)


def control(device):
    model, optimizer, batches, train_step, ruined = start(device)
    good = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    for x, y in batches:
        train_step(model, optimizer, x, y)
        if not all(p.isfinite().all() for p in model.parameters()):
            model.load_state_dict(good[0])
            optimizer.load_state_dict(copy.deepcopy(good[1]))
    return check(device, model, ruined)


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
