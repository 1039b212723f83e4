# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A scheduler that was built with another optimizer leaves the learning rate constant"
# kind = "silent"
# symptom = "the learning rate is still 0.1"
# origin = "usage"
# reports = ["https://github.com/roboterax/video-prediction-policy/issues/14"]
# wrong = '''
# optimizer = make_optimizer(model)
# scheduler = torch.optim.lr_scheduler.StepLR(make_optimizer(model), 1, gamma=0.1)
# '''
# right = '''
# optimizer = make_optimizer(model)
# scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.1)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""get_last_lr() falls as planned, but the optimizer that trains keeps its rate.

A scheduler changes the groups of the optimizer that was passed to it. If a function that builds
both an optimizer and a scheduler is called twice, the scheduler's optimizer can differ from the
optimizer that trains (roboterax/video-prediction-policy#14). The same happens if the optimizer is
built again after the scheduler, for example for another phase of training. The expression
`scheduler.optimizer is optimizer` is then False. If the other optimizer never steps, torch warns
once that lr_scheduler.step() was called before optimizer.step(), although the order is right. Log
the rate from optimizer.param_groups instead of get_last_lr().
"""

import warnings

import torch


def make_optimizer(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)


def check(optimizer, scheduler):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimizer.step()
        scheduler.step()
    rate = optimizer.param_groups[0]["lr"]
    if rate == 0.1 and abs(scheduler.get_last_lr()[0] - 0.01) < 1e-9:
        return "the learning rate is still 0.1"
    if abs(rate - 0.01) > 1e-9:
        return f"the learning rate is {rate}, not 0.01"


def reproduce(device):
    model = torch.nn.Linear(1, 1).to(device)
    optimizer = make_optimizer(model)
    scheduler = torch.optim.lr_scheduler.StepLR(make_optimizer(model), 1, gamma=0.1)
    return check(optimizer, scheduler)


def control(device):
    model = torch.nn.Linear(1, 1).to(device)
    optimizer = make_optimizer(model)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.1)
    return check(optimizer, scheduler)


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
