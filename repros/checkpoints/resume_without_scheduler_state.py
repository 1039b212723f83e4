# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The learning rate starts again at its first value when training resumes"
# kind = "silent"
# symptom = "learning rate of the resumed run is 0\\.5, it should be 0\\.03125"
# keywords = [
#     "learning rate resets after resume",
#     "lr jumps back to the initial value",
#     "warmup starts again after loading a checkpoint",
#     "scheduler not saved in the checkpoint",
#     "loss goes up after resume with a scheduler",
#     "lr goes back to start after loading checkpoint",
#     "learning rate too high after resuming",
#     "learning rate plot starts over after restart",
#     "warmup runs again when I continue training",
#     "cosine schedule restarts from the beginning on resume",
#     "loss jumps since the learning rate is reset",
#     "lr 0.1 again after resume at epoch 60",
#     "decay milestones come too late after resuming",
#     "training continued but lr is not where it was",
#     "optimizer loaded, lr still wrong after the first step",
#     "accuracy falls after resume, learning rate large again",
#     "scheduler starts from epoch 0 when resuming",
#     "total schedule longer than planned after restart",
#     "do I have to save the scheduler",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/D-X-Y/NAS-Bench-201/issues/19",
#     "https://github.com/KaiyangZhou/deep-person-reid/issues/270",
# ]
# documents = ["https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/lr_scheduler.py"]
# wrong = '''
# checkpoint = {"optimizer": optimizer.state_dict()}
# '''
# right = '''
# checkpoint = {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
# '''
# fix = "checkpoints.restore"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The state of the optimizer holds the learning rate, and it was loaded; the next step of
the new scheduler sets that of its own first epochs.

A scheduler counts its steps itself (torch/optim/lr_scheduler.py). Without its state it
counts from 0, so that a decay begins again (D-X-Y/NAS-Bench-201#19), and a warm-up too.
"""

import torch


def make(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    return torch.optim.SGD([weight], lr=1.0)


def resume(device, save_all):
    optimizer = make(device)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    for _ in range(4):
        optimizer.step()
        scheduler.step()
    checkpoint = {"optimizer": optimizer.state_dict()}
    if save_all:
        checkpoint = {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
    resumed = make(device)
    resumed_scheduler = torch.optim.lr_scheduler.LambdaLR(resumed, lambda epoch: 0.5**epoch)
    resumed.load_state_dict(checkpoint["optimizer"])
    if "scheduler" in checkpoint:
        resumed_scheduler.load_state_dict(checkpoint["scheduler"])
    for each, its_scheduler in ((optimizer, scheduler), (resumed, resumed_scheduler)):
        each.step()
        its_scheduler.step()
    rates = [each.param_groups[0]["lr"] for each in (resumed, optimizer)]
    if rates[0] != rates[1]:
        return f"the learning rate of the resumed run is {rates[0]}, it should be {rates[1]}"


def reproduce(device):
    return resume(device, save_all=False)


def control(device):
    return resume(device, save_all=True)


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
