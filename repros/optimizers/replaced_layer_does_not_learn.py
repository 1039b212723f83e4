# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A new layer that replaces an old layer after the optimizer was built does not learn"
# kind = "silent"
# symptom = "the new layer has a gradient and did not move"
# origin = "usage"
# reports = ["https://github.com/microsoft/nni/issues/4521"]
# documents = ["https://github.com/pytorch/pytorch/issues/14467"]
# wrong = '''
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# model[1] = torch.nn.Linear(2, 3).to(device)
# '''
# right = '''
# model[1] = torch.nn.Linear(2, 3).to(device)
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# '''
# fix = "optimizers.check_parameters"
# use = '''
# from optimizers import check_parameters
# model[1] = torch.nn.Linear(2, 3).to(device)
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# check_parameters(model, optimizer)  # raises where it holds others
# '''
# choice = "The lines without the check are enough; add the check if other code swaps layers or builds the optimizer"
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The new layer gets gradients from backward(), but step() skips the layer without an error.

An optimizer holds the parameters themselves, not the model (torch/optim/optimizer.py), so it
continues with the old layer's parameters. Pruning and model surgery that swap layers have the same
effect (microsoft/nni#4521). With torch.nn.utils.prune the parameter stays the same, but
weight_norm() and load_state_dict(assign=True) create new parameters. If you build the optimizer
again, build its scheduler again too, because the old scheduler keeps changing the old optimizer's
learning rates.

Also replace a layer before DistributedDataParallel wraps the model. The wrapper does not average
the gradients of a layer that is replaced later, so the ranks drift apart.
"""

import torch


def start(device):
    return torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)).to(device)


def check(device, model, optimizer):
    before = [parameter.detach().clone() for parameter in model.parameters()]
    model(torch.ones(4, 2, device=device)).sum().backward()
    optimizer.step()
    if model[1].bias.grad.any() and model[1].bias.equal(before[3]):
        return "the new layer has a gradient and did not move"
    for parameter, old in zip(model.parameters(), before):
        if not torch.allclose(parameter, old - 0.1 * parameter.grad):
            return f"the step is {old - parameter}, not 0.1 of the gradient"


def reproduce(device):
    model = start(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model[1] = torch.nn.Linear(2, 3).to(device)
    return check(device, model, optimizer)


def control(device):
    model = start(device)
    model[1] = torch.nn.Linear(2, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
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
