# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The learning rate of LambdaLR and most other schedules is wrong after a resume if only the optimizer was saved"
# kind = "silent"
# symptom = 'learning rate of the resumed run is 0\.5, it should be 0\.03125'
# origin = "usage"
# reports = ["https://github.com/KaiyangZhou/deep-person-reid/issues/270"]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/lr_scheduler.py"]
# wrong = '''
# checkpoint = {"optimizer": optimizer.state_dict()}
# scheduler = make_scheduler(optimizer)  # after the restart
# optimizer.load_state_dict(checkpoint["optimizer"])
# '''
# right = '''
# checkpoint = {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
# scheduler = make_scheduler(optimizer)  # after the restart
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler.load_state_dict(checkpoint["scheduler"])
# '''
# fix = "checkpoints.restore"
# use = '''
# from checkpoints import capture, restore
# checkpoint = capture(optimizer=optimizer, scheduler=scheduler)
# scheduler = make_scheduler(optimizer)  # after the restart
# restore(checkpoint, optimizer=optimizer, scheduler=scheduler)
# '''
# choice = "Use the lines without the fix if only the optimizer and the scheduler have to continue; use the fix if the model, the GradScaler and the random numbers have to continue too"
# rule = "warning"
# when = "the schedule depends on its own count of steps"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The optimizer's loaded state includes the learning rate, but the new scheduler counts its next
step from epoch 0.

A scheduler counts its steps itself (torch/optim/lr_scheduler.py). Without its state, LambdaLR,
OneCycleLR, CyclicLR and CosineAnnealingWarmRestarts restart at their first rate, and
ReduceLROnPlateau forgets the epochs that it has counted. Most other schedulers modify the current
rate: StepLR decays late, and CosineAnnealingLR and PolynomialLR leave their curve. A warm-up by
LinearLR, even in a SequentialLR, ends far above its target rate. ExponentialLR and MultiplicativeLR
with a constant factor continue correctly.

Create the scheduler before you load the optimizer. In the other order, even if both states are
loaded, LinearLR and ConstantLR scale the loaded rate. The four schedulers that restart then use
their first rate until the next scheduler.step(). The state also includes arguments of the schedule,
such as T_max, total_steps and step_size, which replace the new scheduler's arguments. LambdaLR
keeps the new scheduler's functions. In torch 1.13, torch.save() cannot pickle the state of
CyclicLR, but the fix can.
"""

import torch
from torch.optim import lr_scheduler


def make_optimizer(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    return torch.optim.SGD([weight], lr=1.0)


def make_scheduler(optimizer):
    return lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)


def train(optimizer, scheduler, epochs):
    for _ in range(epochs):
        optimizer.step()
        scheduler.step()


def check(optimizer, scheduler):
    train(optimizer, scheduler, epochs=1)
    rate = optimizer.param_groups[0]["lr"]
    if rate != 0.5**5:
        return f"the learning rate of the resumed run is {rate}, it should be {0.5**5}"


def reproduce(device):
    optimizer = make_optimizer(device)
    train(optimizer, make_scheduler(optimizer), epochs=4)
    checkpoint = {"optimizer": optimizer.state_dict()}
    optimizer = make_optimizer(device)
    scheduler = make_scheduler(optimizer)  # after the restart
    optimizer.load_state_dict(checkpoint["optimizer"])
    return check(optimizer, scheduler)


def control(device):
    optimizer = make_optimizer(device)
    scheduler = make_scheduler(optimizer)
    train(optimizer, scheduler, epochs=4)
    checkpoint = {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
    optimizer = make_optimizer(device)
    scheduler = make_scheduler(optimizer)  # after the restart
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    return check(optimizer, scheduler)


def right(device):
    optimizer = make_optimizer(device)
    scheduler = make_scheduler(optimizer)
    train(optimizer, scheduler, epochs=4)
    checkpoint = {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
    scheduler = make_scheduler(optimizer)  # after the restart
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    return check(optimizer, scheduler)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
