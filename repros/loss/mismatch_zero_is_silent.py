# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss that finds no target and returns a zero with requires_grad=True trains nothing"
# kind = "silent"
# symptom = "no parameter has a gradient"
# origin = "usage"
# reports = [
#     "https://github.com/ACEsuit/mace/issues/314",
#     "https://github.com/open-mmlab/mmpretrain/issues/1688",
# ]
# documents = [
#     "https://github.com/RangiLyu/nanodet/issues/7",
#     "https://github.com/RangiLyu/nanodet/blob/be9b4a9001d7f9b6fc89c2df31ae8d428e35b4f0/nanodet/model/head/gfl_head.py#L265",
# ]
# wrong = '''
# terms = [mse_loss(outputs[name], targets[name]) for name in targets if name in outputs]
# loss = sum(terms) if terms else torch.tensor(0.0, requires_grad=True)
# '''
# right = '''
# terms = [mse_loss(outputs[name], targets[name]) for name in targets]  # raises for a missing name
# loss = torch.stack(terms).sum()
# '''
# fix = "loss.match_by_name"
# use = '''
# from loss import match_by_name
# pairs = match_by_name(outputs, targets)
# loss = sum(mse_loss(prediction, target) for prediction, target in pairs.values())
# '''
# choice = "Normally, use the lines without the fix; use the fix if outputs are dataclasses, if the error should say where a nested name occurs, or if shapes might broadcast"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""With wrong names (ACEsuit/mace#314), or with samples that specify no task
(open-mmlab/mmpretrain#1688), the loss is 0.0 in every epoch and no error is raised. The fallback is
a separate leaf, so backward() succeeds but reaches no parameter. With a GradScaler, step() raises
an error, "No inf checks were recorded for this optimizer".

Users add requires_grad=True to the zero to avoid the error "does not require grad"
(RangiLyu/nanodet#7). The detector discussed in that thread still contains this workaround
(nanodet/model/head/gfl_head.py). Skip a batch without targets before you call the model (in DDP on
all ranks together), because torch.stack() raises an error for it.
"""

import torch
from torch.nn.functional import mse_loss


def with_a_zero(outputs, targets):
    terms = [mse_loss(outputs[name], targets[name]) for name in targets if name in outputs]
    loss = sum(terms) if terms else torch.tensor(0.0, requires_grad=True)
    return loss


def looked_up(outputs, targets):
    terms = [
        mse_loss(outputs[name], targets[name]) for name in targets
    ]  # raises for a missing name
    loss = torch.stack(terms).sum()
    return loss


def check(device, loss_of, name):
    model = torch.nn.Linear(3, 1, bias=False).to(device)
    torch.nn.init.zeros_(model.weight)
    outputs = {"price": model(torch.ones(2, 3, device=device))}
    loss = loss_of(outputs, {name: torch.ones(2, 1, device=device)})
    loss.backward()
    if model.weight.grad is None:
        return "no parameter has a gradient, and nothing was raised"
    if model.weight.grad.tolist() != [[-2, -2, -2]]:
        return f"the gradient is {model.weight.grad.tolist()}"


def reproduce(device):
    return check(device, with_a_zero, "prices")


def control(device):
    return check(device, with_a_zero, "price")


def right(device):
    try:
        check(device, looked_up, "prices")
    except KeyError:
        return check(device, looked_up, "price")
    return "a target without a prediction was taken"


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
