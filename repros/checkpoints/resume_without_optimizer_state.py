# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Training that resumes from the weights alone takes wild first steps with Adam"
# kind = "silent"
# symptom = "times as long as it would have been"
# keywords = [
#     "loss spikes after resume",
#     "loss jumps after loading a checkpoint",
#     "training loss higher after continuing training",
#     "resumed run is worse than an uninterrupted one",
#     "forgot to save the optimizer state",
#     "momentum lost on resume",
#     "loss jumps up when I continue training",
#     "spike in the loss curve right after resuming",
#     "accuracy drops after loading and training one more epoch",
#     "training gets worse after restart from checkpoint",
#     "perplexity rises after resume then slowly recovers",
#     "only saved model.state_dict and resume is bad",
#     "resumed loss does not continue where it stopped",
#     "fine at evaluation, loss spikes once training resumes",
#     "first iterations after resuming ruin the model",
#     "loss higher than before the interruption",
#     "continuing from epoch 50 looks like starting again",
#     "bump in tensorboard at every restart",
#     "do I need to save the optimizer too",
#     "reinforcement learning agent forgets after being reloaded",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/metatensor/metatrain/issues/203",
#     "https://github.com/NM512/dreamerv3-torch/issues/38",
# ]
# documents = ["https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html"]
# wrong = '''
# checkpoint = {"model": model.state_dict()}
# '''
# right = '''
# checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
# '''
# fix = "checkpoints.restore"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss jumps at the first steps after a resume, and part of the progress is undone
(metatensor/metatrain#203).

Adam divides its mean of the gradients by their mean size, and both begin at zero. Late in
training the gradients of batches mostly cancel in the first mean, so steps are short. A
new optimizer has seen one gradient: its first step has the full length of the learning
rate for every parameter, however small its gradient (torch/optim/adam.py).
"""

import copy

import torch


def step(model, optimizer, sign):
    optimizer.zero_grad()
    before = model.weight.item()
    (sign * model.weight).sum().backward()
    optimizer.step()
    return abs(model.weight.item() - before)


def resume(device, save_all):
    model = torch.nn.Linear(1, 1, bias=False).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for sign in (1, -1) * 20:
        step(model, optimizer, sign)
    checkpoint = {"model": model.state_dict()}
    if save_all:
        checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    resumed = copy.deepcopy(model)
    resumed_optimizer = torch.optim.Adam(resumed.parameters(), lr=0.1)
    resumed.load_state_dict(checkpoint["model"])
    if "optimizer" in checkpoint:
        resumed_optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
    ratio = step(resumed, resumed_optimizer, 1) / step(model, optimizer, 1)
    if ratio > 5:
        return f"the first step is {ratio:.0f} times as long as it would have been"


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
