# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "optimizer.load_state_dict() replaces the new learning rate with the saved one"
# kind = "silent"
# symptom = "the learning rate is 0.1, not 0.01"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/examples/issues/816",
#     "https://github.com/mapbox/robosat/issues/169",
# ]
# wrong = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=0.01)  # 0.1 before
# optimizer.load_state_dict(checkpoint["optimizer"])
# '''
# right = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=0.01)  # 0.1 before
# optimizer.load_state_dict(checkpoint["optimizer"])
# for group in optimizer.param_groups:
#     group["lr"] = 0.01
# '''
# rule = "note"
# when = "the run is continued with another learning rate"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A run that is resumed with a smaller learning rate continues with the old rate.

An optimizer's state includes its groups' options, such as lr, weight_decay and betas, and
load_state_dict() restores them all (docs: torch.optim.Optimizer.load_state_dict). After loading,
set the options that should change in each group. If the groups have different rates, set each rate.

A scheduler such as LambdaLR returns to the old rate, because it computes the rates from the groups'
initial_lr. If a scheduler had set initial_lr, this value is loaded too. For a new schedule, call
group.pop("initial_lr", None) in the loop, and create the scheduler after the corrected lines. To
continue a schedule, create the scheduler and load its state before the loop. Then set
scheduler.base_lrs to the new rates, because loading restores the old rates. In the other order,
LinearLR and ConstantLR permanently multiply the new rate by their factor. OneCycleLR keeps its old
rates in either order.
"""

import torch


def start(device):
    model = torch.nn.Linear(1, 1).to(device)
    old = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(torch.ones(1, 1, device=device)).sum().backward()
    old.step()
    return model, {"optimizer": old.state_dict()}


def check(model, optimizer):
    if not all(optimizer.state[p]["momentum_buffer"].any() for p in model.parameters()):
        return "the momentum was not loaded"
    rate = optimizer.param_groups[0]["lr"]
    if rate != 0.01:
        return f"the learning rate is {rate}, not 0.01"


def reproduce(device):
    model, checkpoint = start(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)  # 0.1 before
    optimizer.load_state_dict(checkpoint["optimizer"])
    return check(model, optimizer)


def control(device):
    model, checkpoint = start(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)  # 0.1 before
    optimizer.load_state_dict(checkpoint["optimizer"])
    for group in optimizer.param_groups:
        group["lr"] = 0.01
    return check(model, optimizer)


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
