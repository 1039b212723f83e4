# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A frozen parameter keeps moving with momentum after zero_grad(set_to_none=False)"
# kind = "silent"
# symptom = "the frozen weight moved from -1\\.0 to -"
# origin = "design"
# reports = ["https://discuss.pytorch.org/t/why-there-is-still-a-small-change-in-frozen-layer-parameters/153740"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html",
#     "https://github.com/iamwangyabin/S-Prompts/pull/2",
# ]
# wrong = '''
# backbone.requires_grad_(False)
# optimizer.zero_grad(set_to_none=False)
# '''
# right = '''
# backbone.requires_grad_(False)
# for parameter in backbone.parameters():
#     parameter.grad = None
# optimizer.zero_grad(set_to_none=False)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The frozen layer still changes slightly with every step. It still has its old gradient or a
gradient of zeros, and step() looks only at .grad (discuss.pytorch.org/t/153740,
torch/optim/sgd.py).

With a gradient of zeros, the layer is changed by momentum (as here), by weight decay
(iamwangyabin/S-Prompts#2), and by Adam. SGD without momentum and weight decay does not change the
layer, and neither does RMSprop without momentum. With set_to_none=False, the default before torch
2.0, zero_grad() writes zeros. Since 2.0, it removes the gradients by default (docs:
torch.optim.Optimizer.zero_grad). The layer also changes if its gradients are never cleared, for
example because the code clears only parameters that require a gradient.

A BatchNorm's running statistics are not parameters and keep changing until eval() is called on the
layer.
"""

import torch


def start(device):
    backbone, head = (torch.nn.Linear(1, 1, bias=False).to(device) for _ in range(2))
    optimizer = torch.optim.SGD([backbone.weight, head.weight], lr=1.0, momentum=0.9)
    for weight in (backbone.weight, head.weight):
        torch.nn.init.zeros_(weight)
    step(backbone, head, optimizer)
    return backbone, head, optimizer


def step(backbone, head, optimizer):
    (backbone.weight + head.weight).sum().backward()
    optimizer.step()


def check(backbone, head):
    if backbone.weight.item() != -1:
        return f"the frozen weight moved from -1.0 to {backbone.weight.item()}"
    if abs(head.weight.item() + 2.9) > 1e-3:  # 1, and then 1 + 0.9 of it
        return f"the other weight moved to {head.weight.item()} instead of -2.9"


def reproduce(device):
    backbone, head, optimizer = start(device)
    backbone.requires_grad_(False)
    optimizer.zero_grad(set_to_none=False)
    step(backbone, head, optimizer)
    return check(backbone, head)


def control(device):
    backbone, head, optimizer = start(device)
    backbone.requires_grad_(False)
    for parameter in backbone.parameters():
        parameter.grad = None
    optimizer.zero_grad(set_to_none=False)
    step(backbone, head, optimizer)
    return check(backbone, head)


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
