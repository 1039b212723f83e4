# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A parameter that is listed twice in one group is updated twice per step"
# kind = "silent"
# symptom = "optimizer contains a parameter group with duplicate parameters.*moved by 2, not 1"
# messages = ["optimizer contains a parameter group with duplicate parameters"]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/40967",
#     "https://github.com/thu-ml/tianshou/issues/395",
#     "https://github.com/qinenergy/corda/issues/13",
# ]
# documents = ["https://github.com/pytorch/pytorch/pull/41597"]
# wrong = '''
# parameters = list(embedding.parameters()) + list(head.parameters())
# optimizer = torch.optim.SGD(parameters, lr=1.0)
# '''
# right = '''
# parameters = list(embedding.parameters()) + list(head.parameters())
# optimizer = torch.optim.SGD(list(dict.fromkeys(parameters)), lr=1.0)
# '''
# fix = "optimizers.check_parameters"
# use = '''
# from optimizers import check_parameters
# parameters = list(embedding.parameters()) + list(head.parameters())
# optimizer = torch.optim.SGD(list(dict.fromkeys(parameters)), lr=1.0)
# check_parameters(torch.nn.ModuleList([embedding, head]), optimizer)  # raises at one listed twice
# '''
# choice = "The lines without the check are enough; add the check if other code builds the list"
# affected = { cpu = ">=1.13" }
# ///
"""A single warning at the start says "in future, this will cause an error", and each step on the
CPU updates the tied weight twice. With plain SGD, the weight moves exactly twice as far, and with
Adam about twice as far. With a momentum of 0.9, it has moved almost three times as far after ten
steps. With RMSprop and Adagrad, the first step is 1.4 times as large or more.

If two groups contain the same parameter, an error is raised (pytorch#40967). A repetition within a
group was also meant to be an error. This error was changed to a warning because it broke a
library's tests (pytorch#41597).

The optimizer in the corrected code cannot load a checkpoint from an optimizer that held the weight
twice: a ValueError says that the group has a different size.
"""

import warnings

import torch


def start(device):
    embedding = torch.nn.Embedding(3, 2, device=device)
    head = torch.nn.Linear(2, 3, bias=False, device=device)
    head.weight = embedding.weight
    return embedding, head


def check(head, optimizer, caught):
    before = head.weight.detach().clone()
    head.weight.sum().backward()
    optimizer.step()
    moved = round((before - head.weight).mean().item(), 2)
    if moved != 1 or caught:
        return f"{caught[0].message if caught else ''}; moved by {moved:g}, not 1"


def reproduce(device):
    embedding, head = start(device)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parameters = list(embedding.parameters()) + list(head.parameters())
        optimizer = torch.optim.SGD(parameters, lr=1.0)
    return check(head, optimizer, caught)


def control(device):
    embedding, head = start(device)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parameters = list(embedding.parameters()) + list(head.parameters())
        optimizer = torch.optim.SGD(list(dict.fromkeys(parameters)), lr=1.0)
    return check(head, optimizer, caught)


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
