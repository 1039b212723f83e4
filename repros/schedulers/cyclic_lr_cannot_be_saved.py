# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The state of a CyclicLR without a scale_fn cannot be saved"
# kind = "error"
# symptom = "cannot pickle 'WeakMethod' object"
# messages = ["cannot pickle 'WeakMethod' object"]
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/88684",
#     "https://github.com/pytorch/pytorch/issues/90414",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/15901",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/91400",
#     "https://github.com/speechbrain/speechbrain/pull/1683",
# ]
# fixed_by = "pytorch#91400"
# wrong = '''
# torch.save(scheduler.state_dict(), file)
# '''
# right = '''
# state = scheduler.state_dict()
# state.pop("_scale_fn_ref", None)  # before 2.0
# if callable(state["_scale_fn_custom"]):  # before 2.0, of your own
#     del state["_scale_fn_custom"]
# torch.save(state, file)
# '''
# fix = "upgrade"
# affected = { cpu = "<2.0", cuda = "<2.0", mps = "<2.0" }
# ///
"""Training with CyclicLR fails when it saves its first checkpoint.

In 1.13, CyclicLR stores its built-in scaling function as a weakref.WeakMethod, and state_dict()
includes this object (pytorch#88684). If you pass a scale_fn, state_dict() includes your function
instead. If it is a lambda, it cannot be pickled either: "Can't pickle local object"
(torch/optim/lr_scheduler.py). A new CyclicLR sets these functions itself, so the checkpoint does
not need them (speechbrain/speechbrain#1683). If 1.13 saved a file with your own scale_fn, set
state["_scale_fn_custom"] = None before torch 2 loads the state. In a SequentialLR or
ChainedScheduler, the entries that the corrected code removes are in the states of
state["_schedulers"].
"""

import io

import torch


def make(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
    return torch.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.1, max_lr=1.0, step_size_up=4)


def train(scheduler, steps):
    for _ in range(steps):
        scheduler.optimizer.step()
        scheduler.step()
    return scheduler.get_last_lr()[0]


def reproduce(device):
    scheduler, file = make(device), io.BytesIO()
    try:
        torch.save(scheduler.state_dict(), file)
    except TypeError as error:
        return str(error)


def control(device):
    scheduler, file = make(device), io.BytesIO()
    train(scheduler, 3)
    state = scheduler.state_dict()
    state.pop("_scale_fn_ref", None)  # before 2.0
    if callable(state["_scale_fn_custom"]):  # before 2.0, of your own
        del state["_scale_fn_custom"]
    torch.save(state, file)
    file.seek(0)
    resumed = make(device)
    resumed.load_state_dict(torch.load(file))
    rate, expected = train(resumed, 3), train(scheduler, 3)
    if rate != expected:
        return f"resumed, the learning rate is {rate}, not {expected}"


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
