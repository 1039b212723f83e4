# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ReduceLROnPlateau and the other schedulers have rejected verbose=True since torch 2.7"
# kind = "error"
# symptom = "unexpected keyword argument 'verbose'"
# messages = ["ReduceLROnPlateau\\.__init__\\(\\) got an unexpected keyword argument 'verbose'"]
# origin = "design"
# reports = [
#     "https://github.com/opengeos/geoai/issues/182",
#     "https://github.com/sb-ai-lab/LightAutoML/issues/173",
# ]
# documents = ["https://github.com/gszfwsb/NCFM/pull/11"]
# wrong = '''
# scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, verbose=True)
# for epoch in range(epochs):
#     scheduler.step(train_and_validate(epoch))
# '''
# right = '''
# scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
# for epoch in range(epochs):
#     scheduler.step(train_and_validate(epoch))
#     print("learning rates:", [group["lr"] for group in optimizer.param_groups])
# '''
# rule = "error"
# when = "the installed torch is 2.7 or newer"
# affected = { cpu = ">=2.7", cuda = ">=2.7", mps = ">=2.7" }
# ///
"""A script that has run for years stops at the line that creates the scheduler.

The schedulers of torch 2.2 to 2.6 warn that verbose is deprecated, and those of torch 2.7 and newer
do not accept it, not even verbose=False (gszfwsb/NCFM#11). If verbose is given by position, the
error names the number of positional arguments instead. The option only printed the rates: print
them after each step instead.
"""

import torch


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)

    def train_and_validate(epoch):
        optimizer.step()
        return 1.0

    return optimizer, train_and_validate


def reproduce(device, epochs=3):
    optimizer, train_and_validate = start(device)
    try:
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, verbose=True)
    except TypeError as error:
        return str(error)
    for epoch in range(epochs):
        scheduler.step(train_and_validate(epoch))


def control(device, epochs=3):
    optimizer, train_and_validate = start(device)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
    for epoch in range(epochs):
        scheduler.step(train_and_validate(epoch))
        print("learning rates:", [group["lr"] for group in optimizer.param_groups])
    rate = optimizer.param_groups[0]["lr"]
    if abs(rate - 0.1) > 1e-6:
        return f"the learning rate is {rate} after 3 epochs without progress, not 0.1"


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
