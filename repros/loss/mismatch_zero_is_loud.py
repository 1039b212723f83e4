# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss that finds no target and returns a constant zero fails in backward()"
# kind = "error"
# symptom = "element 0 of tensors does not require grad"
# messages = ["element \\d{1,9} of tensors does not require grad and does not have a grad_fn"]
# origin = "usage"
# reports = [
#     "https://github.com/RangiLyu/nanodet/issues/7",
#     "https://github.com/pytorchbearer/torchbearer/issues/414",
# ]
# documents = ["https://github.com/open-mmlab/mmpretrain/pull/1426"]
# wrong = '''
# terms = [mse_loss(outputs[name], targets[name]) for name in targets if name in outputs]
# loss = sum(terms) if terms else torch.tensor(0.0)
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
"""The error says that the loss does not require grad. If no target has a matching prediction, the
loss is a constant without a graph, and backward() rejects it (RangiLyu/nanodet#7: a batch without
positive anchors; open-mmlab/mmpretrain#1426: a batch without a task). Look up each output by name
in a way that raises an error for a misspelled name. Skip a batch without targets before you call
the model, because torch.stack() raises an error for it. In DDP, skip the batch on all ranks
together, because the other ranks wait for its gradients.

Setting requires_grad=True on the zero, as advised in RangiLyu/nanodet#7, makes the failure silent:
backward() succeeds but reaches no parameter.
"""

import torch
from torch.nn.functional import mse_loss


def with_a_zero(outputs, targets):
    terms = [mse_loss(outputs[name], targets[name]) for name in targets if name in outputs]
    loss = sum(terms) if terms else torch.tensor(0.0)
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
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)
    if model.weight.grad is None:
        return "backward() is quiet, and no parameter has a gradient"
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


def popular_fix(device):
    return check(device, lambda *_: torch.tensor(0.0, requires_grad=True), "prices")


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
