# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "loss = torch.tensor(loss, requires_grad=True) trains nothing and raises no error"
# kind = "silent"
# symptom = "passed without a gradient"
# origin = "design"
# reports = ["https://github.com/huggingface/torchMoji/issues/21"]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.tensor.html"]
# wrong = '''
# loss = criterion(model(x), y)
# loss = torch.tensor(loss, requires_grad=True)
# loss.backward()
# '''
# right = '''
# loss = criterion(model(x), y)
# loss.backward()
# '''
# fix = "loss.check_gradients"
# use = '''
# from loss import check_gradients
# loss = criterion(model(x), y)
# loss.backward()
# check_gradients(model)
# '''
# choice = "The lines without the fix are enough; add the fix if the loss sometimes loses its graph. The fix names the parameters whose gradient is missing, zero or (unless you pass scaled=True, as a GradScaler requires) not finite. A gradient from an earlier batch hides a missing gradient"
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Calling torch.tensor() copies the value without its graph, and requires_grad=True makes the copy
a leaf (docs: torch.tensor), so backward() succeeds but reaches no parameter. The same happens with
Variable(loss, requires_grad=True). With a GradScaler, step() raises an error, "No inf checks were
recorded for this optimizer".

The copy is meant to avoid the error "element 0 of tensors does not require grad", but then the loss
does not change (huggingface/torchMoji#21). Without the copy, that error returns. Its cause is that
the graph was cut before this line (in that thread, by .data in the model): fix this cause.
"""

import torch
from torch.autograd import Variable


def start(device):
    model = torch.nn.Linear(3, 1, bias=False).to(device)
    torch.nn.init.zeros_(model.weight)
    x, y = torch.full((2, 3), 2.0, device=device), torch.full((2, 1), 5.0, device=device)
    return model, torch.nn.MSELoss(), x, y


def check(model):
    if model.weight.grad is None:
        return "backward() passed without a gradient of any parameter"
    if (model.weight.grad + 20).abs().max() > 1e-3:  # 2 (output - y) x
        return f"the gradient is {model.weight.grad.tolist()} instead of -20"


def reproduce(device):
    model, criterion, x, y = start(device)
    loss = criterion(model(x), y)
    loss = torch.tensor(loss, requires_grad=True)
    loss.backward()
    Variable(criterion(model(x), y), requires_grad=True).backward()
    return check(model)


def control(device):
    model, criterion, x, y = start(device)
    loss = criterion(model(x), y)
    loss.backward()
    return check(model)


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
