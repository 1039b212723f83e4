# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "At its next step, LambdaLR undoes a learning rate that was set in param_groups"
# kind = "silent"
# symptom = "the learning rate is 0.1 again"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.LambdaLR.html",
#     "https://github.com/AnswerDotAI/ModernBERT/pull/124",
# ]
# wrong = '''
# for group in optimizer.param_groups:
#     group["lr"] *= 0.1
# scheduler.step()
# '''
# right = '''
# for group in optimizer.param_groups:
#     group["lr"] = group["lr"] * 0.1
# scheduler.base_lrs = [rate * 0.1 for rate in scheduler.base_lrs]
# scheduler.step()
# '''
# rule = "warning"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The new rate lasts only until the next scheduler.step(). Then the old schedule continues.

LambdaLR and CosineAnnealingWarmRestarts compute each rate from the initial rate (docs: LambdaLR),
which they keep in base_lrs. StepLR, MultiStepLR, ExponentialLR, CosineAnnealingLR, LinearLR,
ConstantLR, PolynomialLR and MultiplicativeLR continue from the current rate and keep a change. For
these schedulers, the corrected code's line about base_lrs does no harm. However, CosineAnnealingLR
keeps the change only up to T_max, and then rises to the initial rate in base_lrs. The line does not
scale a limit such as eta_min. OneCycleLR and CyclicLR undo the change too, but the line does not
help with them, because they take the rates from their limits. SequentialLR and ChainedScheduler
keep the rates in their inner schedulers. Like ReduceLROnPlateau, they have no base_lrs, so the line
raises an error. The scheduler's state_dict() saves base_lrs, but a new scheduler with last_epoch
starts from the old initial_lr.
"""

import torch


def start(device):
    parameter = torch.nn.Parameter(torch.zeros(1, device=device))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1.0)
    optimizer.step()
    return optimizer, scheduler


def check(optimizer, scheduler):
    rate = optimizer.param_groups[0]["lr"]
    if rate == 0.1:
        return "the learning rate is 0.1 again"
    if abs(rate - 0.01) > 1e-9 or scheduler.get_last_lr() != [rate]:
        return f"the learning rate is {rate}, not 0.01"


def reproduce(device):
    optimizer, scheduler = start(device)
    for group in optimizer.param_groups:
        group["lr"] *= 0.1
    scheduler.step()
    return check(optimizer, scheduler)


def control(device):
    optimizer, scheduler = start(device)
    for group in optimizer.param_groups:
        group["lr"] = group["lr"] * 0.1
    scheduler.base_lrs = [rate * 0.1 for rate in scheduler.base_lrs]
    scheduler.step()
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
