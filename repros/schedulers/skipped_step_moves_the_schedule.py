# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "If GradScaler skips the first step, the scheduler warns about a wrong order and runs ahead"
# kind = "silent"
# symptom = "Detected call of .lr_scheduler.step.*the first update used 0\\.5, not 1\\.0"
# messages = ["Detected call of .{0,3}lr_scheduler\\.step\\(\\).{0,3} before .{0,3}optimizer\\.step\\(\\)"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/55585",
#     "https://github.com/sithu31296/semantic-segmentation/issues/28",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/21339",
# ]
# documents = [
#     "https://discuss.pytorch.org/t/optimizer-step-before-lr-scheduler-step-error-using-gradscaler/92930",
#     "https://github.com/hkchengrex/STCN/issues/44",
# ]
# wrong = '''
# scaler.step(optimizer)
# scaler.update()
# scheduler.step()
# '''
# right = '''
# scaler.step(optimizer)
# scale = scaler.get_scale()
# scaler.update()
# if scaler.get_scale() >= scale: scheduler.step()
# '''
# requires = ">=2.3"
# rule = "note"
# when = "GradScaler skips a step, as it often does at the start"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.8" }
# ///
"""The order of the calls is right, but the warning still appears if the first step is skipped. If a
later step is skipped, the schedule runs ahead without a warning.

The scale starts at 65536. If the first gradients overflow, scaler.step() does not call
optimizer.step() (torch/amp/grad_scaler.py), and the scheduler counts an update that never happened
(Lightning-AI/pytorch-lightning#21339). A fused optimizer's step() is called and skips the update
itself, so the schedule runs ahead without a warning. The corrected code works for fused optimizers
too.

The usual advice is to ignore the warning (sithu31296/semantic-segmentation#28, hkchengrex/STCN#44).
The schedule then runs ahead by one step for each skipped step.

If two optimizers share a scaler, the scale falls when the gradients of either optimizer overflow.
With the corrected code, the other optimizer's schedule then waits too, although that optimizer took
its step.
"""

import warnings

import torch


def follow_every_update(scaler, optimizer, scheduler):
    scaler.step(optimizer)
    scaler.update()
    scheduler.step()


def follow_the_steps(scaler, optimizer, scheduler):
    scaler.step(optimizer)
    scale = scaler.get_scale()
    scaler.update()
    if scaler.get_scale() >= scale:
        scheduler.step()


def train(device, step, action="always"):
    scaler = torch.amp.GradScaler(device)
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        for factor in (1e36, 1.0):  # 65536 * 1e36 is inf
            optimizer.zero_grad()
            scaler.scale(weight.sum() * factor).backward()
            step(scaler, optimizer, scheduler)
    if weight.item() != -1.0:
        seen = [str(each.message) for each in caught] or ["no warning"]
        return f"{seen[0]}; the first update used {-weight.item()}, not 1.0"
    if scheduler.get_last_lr() != [0.5]:
        return f"after one step the learning rate is {scheduler.get_last_lr()[0]}, not 0.5"


def reproduce(device):
    return train(device, follow_every_update)


def control(device):
    return train(device, follow_the_steps)


def popular_fix(device):
    return train(device, follow_every_update, action="ignore")


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
