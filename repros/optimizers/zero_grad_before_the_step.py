# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "zero_grad() between backward() and step() removes the gradients before the step"
# kind = "silent"
# symptom = "the step after zero_grad\\(\\) moved nothing"
# origin = "usage"
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html"]
# wrong = '''
# loss.backward()
# optimizer.zero_grad()
# optimizer.step()
# '''
# right = '''
# optimizer.zero_grad()
# loss.backward()
# optimizer.step()
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss does not change, and no error is raised. The reason is that zero_grad() has just removed
the gradients, and step() skips a parameter without a gradient (docs:
torch.optim.Optimizer.zero_grad). Before torch 2.0, and with set_to_none=False, the gradients are 0
instead, so only weight decay or the momentum of earlier steps changes the weights. If the gradient
is None, the step() of a GradScaler fails (see amp/no_inf_checks_without_gradients). With
accumulation, call zero_grad() once per step, not per backward() (see
optimizers/zero_grad_in_every_micro_batch).
"""

import torch


def start(device):
    weight = torch.ones(1, device=device, requires_grad=True)
    return weight, torch.optim.SGD([weight], lr=0.1), weight.sum()


def check(weight):
    if weight.item() == 1:
        return "the step after zero_grad() moved nothing"
    if abs(weight.item() - 0.9) > 1e-6:
        return f"the step ended at {weight.item():g}, not at 0.9"


def reproduce(device):
    weight, optimizer, loss = start(device)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return check(weight)


def control(device):
    weight, optimizer, loss = start(device)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return check(weight)


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
