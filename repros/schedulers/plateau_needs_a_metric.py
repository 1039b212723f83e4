# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ReduceLROnPlateau.step() raises TypeError in a loop that was written for other schedulers"
# kind = "error"
# symptom = "step\\(\\) missing 1 required positional argument: 'metrics'"
# messages = ["step\\(\\) missing 1 required positional argument: .metrics."]
# keywords = [
#     "ReduceLROnPlateau TypeError",
#     "plateau scheduler without validation loss",
#     "generic training loop with ReduceLROnPlateau",
#     "switching to reduce on plateau crashes my trainer",
#     "scheduler step fails only with reduce on plateau",
#     "what do I pass to the plateau scheduler",
#     "plateau scheduler in a loop for any scheduler",
# ]
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
# optimizer.step()
# scheduler.step()
# '''
# right = '''
# scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
# optimizer.step()
# scheduler.step(validation_loss)
# '''
# rule = "error"
# when = "the scheduler is ReduceLROnPlateau"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A loop that works with every other scheduler fails with ReduceLROnPlateau.

It decides by a number whether to lower the rate, so its step() takes that number
(docs: torch.optim.lr_scheduler.ReduceLROnPlateau). Trainers that call step() without one
need a case for it (ContinualAI/avalanche#692, victoresque/pytorch-template#89).
"""

import torch


def train(device, *metrics):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    optimizer.step()
    try:
        scheduler.step(*metrics)
    except TypeError as error:
        return str(error)


def reproduce(device):
    return train(device)


def control(device, validation_loss=1.0):
    return train(device, validation_loss)


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
