# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ASGD with foreach decays its step size by a different formula than without foreach"
# kind = "silent"
# symptom = "weight is -?\\d.*, not -?\\d"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/asgd.py",
#     "https://github.com/pytorch/pytorch/pull/126375",
#     "https://github.com/pytorch/pytorch/pull/125440",
#     "https://github.com/pytorch/pytorch/pull/92724",
# ]
# fixed_by = "pytorch#126375"
# upstream = "unreported"
# wrong = '''
# optimizer = torch.optim.ASGD(model.parameters(), lr=0.5, lambd=1.0, foreach=True)
# '''
# right = '''
# optimizer = torch.optim.ASGD(model.parameters(), lr=0.5, lambd=1.0, foreach=False)
# '''
# fix = "upgrade"
# affected = { cpu = ">=2.0,<2.4", cuda = ">=2.0,<2.4" }
# ///
"""From the second step on, the weights differ from those with foreach=False. If lr * lambd is below
1, the step size is too small at first and too large later.

The step size is lr / (1 + lambd * lr * t) ** alpha (torch/optim/asgd.py). The foreach
implementation raised only t to the power of alpha (pytorch#125440). Release 2.0 also made foreach
the default on CUDA (pytorch#92724; not measured).

Loading a checkpoint that was saved with foreach=True sets foreach=True again. After
load_state_dict(), set group["foreach"] = False for each group in optimizer.param_groups.
"""

import torch


def start(device):
    model = torch.nn.Linear(1, 1, bias=False, device=device)
    torch.nn.init.ones_(model.weight)
    return model


def check(model, optimizer):
    expected, eta = 1.0, 0.5
    for step in (1, 2, 3):
        optimizer.zero_grad()
        model.weight.sum().backward()
        optimizer.step()
        expected -= eta * (expected + 1)
        eta = 0.5 / (1 + 0.5 * step) ** 0.75  # alpha is 0.75 by default
    if abs(model.weight.item() - expected) > 1e-3:
        return f"weight is {model.weight.item():.4f}, not {expected:.4f}"


def reproduce(device):
    model = start(device)
    optimizer = torch.optim.ASGD(model.parameters(), lr=0.5, lambd=1.0, foreach=True)
    return check(model, optimizer)


def control(device):
    model = start(device)
    optimizer = torch.optim.ASGD(model.parameters(), lr=0.5, lambd=1.0, foreach=False)
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
