# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ReduceLROnPlateau.step() raises TypeError in a loop written for other schedulers"
# kind = "error"
# symptom = "step\\(\\) missing 1 required positional argument: 'metrics'"
# messages = ["step\\(\\) missing 1 required positional argument: .metrics."]
# origin = "design"
# reports = [
#     "https://github.com/junyanz/pytorch-CycleGAN-and-pix2pix/issues/495",
#     "https://github.com/victoresque/pytorch-template/issues/89",
#     "https://github.com/ContinualAI/avalanche/issues/692",
#     "https://github.com/mittagessen/kraken/issues/635",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.ReduceLROnPlateau.html"]
# wrong = '''
# scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
# for epoch in range(epochs):
#     validation_loss = train_and_validate(epoch)
#     scheduler.step()
# '''
# right = '''
# scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
# for epoch in range(epochs):
#     validation_loss = train_and_validate(epoch)
#     if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
#         scheduler.step(validation_loss)
#     else:
#         scheduler.step()
# '''
# rule = "error"
# when = "the scheduler is ReduceLROnPlateau"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A loop that works with every other scheduler fails with ReduceLROnPlateau.

ReduceLROnPlateau uses a number to decide whether to lower the rate, so its step() requires this
number (docs: torch.optim.lr_scheduler.ReduceLROnPlateau). Trainers that call step() without an
argument need a special case (ContinualAI/avalanche#692, victoresque/pytorch-template#89), unless
they use no other schedulers. For an accuracy, pass mode="max"; otherwise the rate falls while the
accuracy rises. For a loss below 0, pass threshold_mode="abs". With the relative threshold, -10
counts as better than -10, so a loss that stays the same never lowers the rate. Pass the same number
on every rank; otherwise the ranks end up with different rates.
"""

import torch


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)

    def train_and_validate(epoch):
        optimizer.step()
        return 1.0

    return optimizer, train_and_validate


def reproduce(device, epochs=12):
    optimizer, train_and_validate = start(device)
    try:
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
        for epoch in range(epochs):
            validation_loss = train_and_validate(epoch)
            scheduler.step()
    except TypeError as error:
        return str(error)
    return f"took a step without {validation_loss}"


def control(device, epochs=12):
    optimizer, train_and_validate = start(device)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    for epoch in range(epochs):
        validation_loss = train_and_validate(epoch)
        if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
            scheduler.step(validation_loss)
        else:
            scheduler.step()
    rate = optimizer.param_groups[0]["lr"]
    if abs(rate - 0.1) > 1e-6:
        return f"the learning rate is {rate} after 12 epochs without progress, not 0.1"


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
