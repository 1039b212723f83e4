"""Six steps of a cycle, and six more from a checkpoint: with its own scaling, and with a lambda.

Torch 2 loads no state without the scaling function, which is None where the scaling is its own.
"""

import torch

SETTINGS = ("plain", "AdamW")


def make(t, scale_fn):
    weights = [torch.zeros(1, requires_grad=True) for _ in range(2)]
    groups = [{"params": [weight], "lr": lr} for weight, lr in zip(weights, (0.1, 0.05))]
    more = {"momentum": 0.9} if t.setting.optimizer == "SGD" else {}
    optimizer = getattr(torch.optim, t.setting.optimizer)(groups, lr=0.1, **more)
    momentum = t.setting.optimizer == "SGD"
    return torch.optim.lr_scheduler.CyclicLR(
        optimizer, 0.1, 0.5, step_size_up=4, scale_fn=scale_fn, cycle_momentum=momentum
    )


def train(scheduler):
    rates = []
    for _ in range(6):
        rates += scheduler.get_last_lr()
        scheduler.optimizer.step()
        scheduler.step()
    return rates


def place(t):
    file, seen = "scheduler.pt", []
    for scale_fn in (None, lambda cycle: 1.0):
        scheduler = make(t, scale_fn)
        rates = train(scheduler)
        paste
        scheduler = make(t, scale_fn)
        state = torch.load(file)
        loads_on_2 = scale_fn is not None or "_scale_fn_custom" in state
        scheduler.load_state_dict(state)
        scheduler.step()  # what a new scheduler has set is that of step 0
        seen.append([rates, train(scheduler)[:10], scheduler.last_epoch, loads_on_2])
    return seen


def reference(t):
    triangle = [0.1 + 0.1 * min(n % 8, 8 - n % 8) for n in range(13)]
    before, after = (
        [rate for rate in part for _ in range(2)] for part in (triangle[:6], triangle[7:12])
    )
    return [[before, after, 13, True]] * 2
