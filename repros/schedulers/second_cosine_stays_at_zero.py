# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A second CosineAnnealingLR starts from 0, the rate at which the first scheduler ended, and stays there"
# kind = "silent"
# symptom = "the rates of the second schedule are all 0"
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/78003"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.CosineAnnealingLR.html",
# ]
# wrong = '''
# scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
# '''
# right = '''
# for group in optimizer.param_groups:
#     group["lr"] = group["initial_lr"] * 1.0  # a copy, in case it is a tensor
# scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
# '''
# rule = "note"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A restart or a second phase of training does not learn, because each step up to T_max has a rate
of 0.

CosineAnnealingLR computes each rate from the previous one (docs: CosineAnnealingLR), and a new
scheduler starts from the rate in the optimizer, although it finds the old initial_lr there. With
eta_min, it stays at eta_min. PolynomialLR and a LinearLR that ends at 0 stay at 0 as well; StepLR
and ExponentialLR continue from the decayed rate. LambdaLR, CosineAnnealingWarmRestarts and
OneCycleLR start over. CyclicLR and OneCycleLR change initial_lr, so after these schedulers, assign
the rate that you want instead. For restarts alone, one CosineAnnealingWarmRestarts is enough.
Groups that no scheduler has seen, such as those added later, have no initial_lr.
"""

import math

import torch


def start(device):
    parameter = torch.nn.Parameter(torch.zeros(1, device=device))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    rates_of(optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4))
    return optimizer


def rates_of(optimizer, scheduler):
    rates = []
    for _ in range(4):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


def check(rates):
    if max(rates) < 1e-9:
        return "the rates of the second schedule are all 0"
    expected = [0.05 * (1 + math.cos(math.pi * step / 4)) for step in range(4)]
    if any(abs(rate - other) > 1e-9 for rate, other in zip(rates, expected)):
        return f"the rates of the second schedule are {rates}"


def reproduce(device):
    optimizer = start(device)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    return check(rates_of(optimizer, scheduler))


def control(device):
    optimizer = start(device)
    for group in optimizer.param_groups:
        group["lr"] = group["initial_lr"] * 1.0  # a copy, in case it is a tensor
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    return check(rates_of(optimizer, scheduler))


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
