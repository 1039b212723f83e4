# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A parameter that one group lists twice is updated twice per step"
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
# choice = "Use the lines; add the check if other code makes the list"
# affected = { cpu = ">=1.13" }
# ///
"""One warning at the start says "in future, this will cause an error", and each step on the CPU
updates the tied weight twice. The weight moves twice as far with plain SGD and Adam, almost three
times as far after ten steps with a momentum of 0.9, and 1.4 times or more in the first step of
RMSprop and Adagrad.

Across groups, a repeated parameter is an error (pytorch#40967). Within a group it was meant to be
an error too, but was changed to a warning because the error broke a library's tests
(pytorch#41597).

A checkpoint of an optimizer that held the weight twice does not load into the optimizer of the
lines: a ValueError says that the group has a different size.
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
