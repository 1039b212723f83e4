# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A parameter that is in no parameter group does not learn"
# kind = "silent"
# symptom = "bias has a gradient and did not move"
# origin = "usage"
# reports = ["https://github.com/zjunlp/HVPNeT/issues/5"]
# documents = ["https://docs.pytorch.org/docs/stable/optim.html#per-parameter-options"]
# wrong = '''
# named = dict(model.named_parameters())
# groups = [{"params": [p for n, p in named.items() if "weight" in n], "weight_decay": 0.01}]
# optimizer = torch.optim.SGD(groups, lr=0.1)
# '''
# right = '''
# named = dict(model.named_parameters())
# groups = [{"params": [p for n, p in named.items() if "weight" in n], "weight_decay": 0.01}]
# groups += [{"params": [p for n, p in named.items() if "weight" not in n], "weight_decay": 0.0}]
# optimizer = torch.optim.SGD(groups, lr=0.1)
# '''
# fix = "optimizers.check_parameters"
# use = '''
# from optimizers import check_parameters
# named = dict(model.named_parameters())
# groups = [{"params": [p for n, p in named.items() if "weight" in n], "weight_decay": 0.01}]
# groups += [{"params": [p for n, p in named.items() if "weight" not in n], "weight_decay": 0.0}]
# optimizer = torch.optim.SGD(groups, lr=0.1)
# check_parameters(model, optimizer)  # raises, and names what is in no group
# '''
# choice = "Use the lines without the check for two groups; add the check wherever groups are made by name"
# rule = "note"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Groups that are selected by name omit parameters that match no name. The optimizer cannot detect
this, because it trains only the parameters that it gets (torch/optim/optimizer.py). The second
group sets weight_decay to 0, because AdamW decays by 0.01 by default.

These groups contain only parameters that model.named_parameters() yields. Even with the corrected
lines, the parameters of a second network, or of a loss that is a separate module, do not learn.
With these groups, the weights of norms and PReLU decay. If the name of a module contains "weight",
its bias decays too.

A state that was saved with one group does not load into two groups. Load it into an optimizer with
the same group, and then pass the second group to add_param_group().

In zjunlp/HVPNeT#5, a group was made but never appended to the list.
"""

import torch


def start(device):
    return torch.nn.Linear(2, 1).to(device)


def check(device, model, optimizer):
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    model(torch.ones(4, 2, device=device)).sum().backward()
    optimizer.step()
    for name, p in model.named_parameters():
        if p.grad.any() and p.equal(before[name]):
            return f"{name} has a gradient and did not move"
        decay = 0.01 * before[name] if name == "weight" else 0
        if not torch.allclose(p, before[name] - 0.1 * (p.grad + decay)):
            return f"{name} moved by {p - before[name]}"


def reproduce(device):
    model = start(device)
    named = dict(model.named_parameters())
    groups = [{"params": [p for n, p in named.items() if "weight" in n], "weight_decay": 0.01}]
    optimizer = torch.optim.SGD(groups, lr=0.1)
    return check(device, model, optimizer)


def control(device):
    model = start(device)
    named = dict(model.named_parameters())
    groups = [{"params": [p for n, p in named.items() if "weight" in n], "weight_decay": 0.01}]
    groups += [{"params": [p for n, p in named.items() if "weight" not in n], "weight_decay": 0.0}]
    optimizer = torch.optim.SGD(groups, lr=0.1)
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
