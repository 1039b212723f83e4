# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A model that is rebuilt after its optimizer was created does not learn"
# kind = "silent"
# symptom = "the step moved nothing"
# origin = "usage"
# reports = ["https://github.com/spro/practical-pytorch/issues/9"]
# wrong = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# model = Net().to(device)
# loss_fn(model(x), y).backward()
# optimizer.step()
# '''
# right = '''
# model = Net().to(device)
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# loss_fn(model(x), y).backward()
# optimizer.step()
# '''
# fix = "optimizers.check_parameters"
# use = '''
# from optimizers import check_parameters
# model = Net().to(device)
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# check_parameters(model, optimizer)  # raises where it holds those of another model
# loss_fn(model(x), y).backward()
# optimizer.step()
# '''
# choice = "The lines without the check are enough; add the check in a notebook, whose cells can run in any order"
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss does not fall, whatever the learning rate, because the optimizer holds the first model's
parameters. If those parameters have no gradients, step() skips them (torch/optim/sgd.py). If they
still have old gradients, step() continues to update them.

A typical cause is a second notebook cell that builds the model again (spro/practical-pytorch#9). A
copy of the model made with copy.deepcopy() also has new parameters, as does a model after
load_state_dict() with assign=True.

An existing scheduler still holds the first optimizer. The new optimizer's learning rate then stays
constant. If the first optimizer never took a step, a warning says that lr_scheduler.step() was
called before optimizer.step(). After the corrected code, create the scheduler again.
"""

import torch


class Net(torch.nn.Linear):
    def __init__(self):
        super().__init__(1, 1, bias=False)
        torch.nn.init.zeros_(self.weight)


def start(device):
    one = torch.ones(1, 1, device=device)
    return Net().to(device), one, 10 * one, torch.nn.L1Loss()


def check(model):
    if model.weight.item() == 0:
        return "the step moved nothing"
    if abs(model.weight.item() - 0.1) > 1e-6:
        return f"the step ended at {model.weight.item():g}, not at 0.1"


def reproduce(device):
    model, x, y, loss_fn = start(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model = Net().to(device)
    loss_fn(model(x), y).backward()
    optimizer.step()
    return check(model)


def control(device):
    model, x, y, loss_fn = start(device)
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_fn(model(x), y).backward()
    optimizer.step()
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
