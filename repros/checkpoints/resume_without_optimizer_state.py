# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "After a resume without its saved state, Adam takes steps that are too long if gradients cancel out"
# kind = "silent"
# symptom = "times as long as it would have been"
# origin = "usage"
# reports = [
#     "https://github.com/metatensor/metatrain/issues/203",
#     "https://github.com/NM512/dreamerv3-torch/issues/38",
# ]
# documents = ["https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html"]
# wrong = '''
# checkpoint = {"model": model.state_dict()}
# optimizer = make_optimizer(model)  # after the restart
# model.load_state_dict(checkpoint["model"])
# '''
# right = '''
# checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
# optimizer = make_optimizer(model)  # after the restart
# model.load_state_dict(checkpoint["model"])
# optimizer.load_state_dict(checkpoint["optimizer"])
# '''
# fix = "checkpoints.restore"
# use = '''
# from checkpoints import capture, restore
# checkpoint = capture(model=model, optimizer=optimizer)
# optimizer = make_optimizer(model)  # after the restart
# restore(checkpoint, model=model, optimizer=optimizer)
# '''
# choice = "Use the lines without the fix if only the model and the optimizer have to continue; use the fix if the scheduler, the GradScaler and the random numbers have to continue too"
# rule = "warning"
# when = "the optimizer is Adam or another optimizer with momentum"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""In the first steps after a resume, the loss jumps, and part of the progress is undone
(metatensor/metatrain#203).

Adam divides the mean of the gradients by their mean size, and both means start at zero. Late in
training, the gradients of different batches mostly cancel in their mean, so steps are short. A new
optimizer has seen only one gradient. Its first step has the full length of the learning rate for
every parameter whose gradient is well above eps, 1e-8 (torch/optim/adam.py). If the gradients keep
their sign, the step has that length with the old state too. In this case, SGD with momentum and
without its state takes shorter first steps: a tenth of the length for a momentum of 0.9.

The state includes the learning rate and the weight decay, so set new values after the load.
"""

import torch


def make_optimizer(model):
    return torch.optim.Adam(model.parameters(), lr=0.1)


def step(model, optimizer, sign):
    optimizer.zero_grad()
    before = model.weight.item()
    (sign * model.weight).sum().backward()
    optimizer.step()
    return abs(model.weight.item() - before)


def start(device):
    model = torch.nn.Linear(1, 1, bias=False).to(device)
    optimizer = make_optimizer(model)
    for sign in (1, -1) * 20:
        step(model, optimizer, sign)
    return model, optimizer


def check(device, model, optimizer):
    ratio = step(model, optimizer, 1) / step(*start(device), 1)
    if ratio > 5:
        return f"the first step is {ratio:.0f} times as long as it would have been"
    if not 0.99 < ratio < 1.01:
        return f"the first step is {ratio} times that of the run that goes on"


def reproduce(device):
    model, optimizer = start(device)
    checkpoint = {"model": model.state_dict()}
    optimizer = make_optimizer(model)  # after the restart
    model.load_state_dict(checkpoint["model"])
    return check(device, model, optimizer)


def control(device):
    model, optimizer = start(device)
    checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    optimizer = make_optimizer(model)  # after the restart
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return check(device, model, optimizer)


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
