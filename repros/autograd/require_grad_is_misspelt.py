# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "parameter.require_grad = False, without the s, freezes nothing and raises no error"
# kind = "silent"
# symptom = "the frozen weight moved"
# origin = "usage"
# reports = [
#     "https://github.com/udacity/deep-learning-v2-pytorch/issues/12",
#     "https://github.com/SvenBecker/vscode-pytorch/issues/8",
# ]
# wrong = '''
# for parameter in backbone.parameters():
#     parameter.require_grad = False
# '''
# right = '''
# for parameter in backbone.parameters():
#     parameter.requires_grad = False
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The assignment creates a new attribute that torch never reads, so the backbone continues to
learn.

Python lets a tensor have any attribute. The attribute that autograd reads is requires_grad (docs:
autograd mechanics). backbone.requires_grad_(False) sets this attribute for all parameters of a
module, and a misspelled method raises AttributeError. However, the assignment
backbone.requires_grad = False, for the module itself, freezes nothing either. BatchNorm in train()
mode still updates its statistics (see modules/frozen_batchnorm_moves). A parameter that is frozen
after the first steps may continue to move because of its old gradient (see
optimizers/frozen_parameter_moves_on).
"""

import torch


def start(device):
    backbone, head = torch.nn.Linear(1, 1).to(device), torch.nn.Linear(1, 1).to(device)
    optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.1)
    return backbone, head, optimizer


def check(device, backbone, head, optimizer):
    before = [p.detach().clone() for p in (backbone.weight, head.bias)]
    head(backbone(torch.ones(1, 1, device=device))).sum().backward()
    optimizer.step()
    if not backbone.weight.equal(before[0]):
        return "the frozen weight moved"
    if head.bias.equal(before[1]):
        return "the head does not learn"


def reproduce(device):
    backbone, head, optimizer = start(device)
    for parameter in backbone.parameters():
        parameter.require_grad = False
    return check(device, backbone, head, optimizer)


def control(device):
    backbone, head, optimizer = start(device)
    for parameter in backbone.parameters():
        parameter.requires_grad = False
    return check(device, backbone, head, optimizer)


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
