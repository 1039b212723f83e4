# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "detach() between the backbone and the head leaves the backbone at its initial weights"
# kind = "silent"
# symptom = "the backbone has not moved, and its gradient is None"
# origin = "usage"
# reports = ["https://github.com/lucidrains/CoCa-pytorch/issues/6"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html",
#     "https://pypi.org/project/torchtest2/",
# ]
# wrong = '''
# features = backbone(x).detach()
# output = head(features)
# '''
# right = '''
# features = backbone(x)
# output = head(features)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss falls, because the head learns, and backward() raises no error for the same reason.

detach() returns a tensor without a graph (docs: torch.Tensor.detach), so backward() stops at this
tensor. Using .data, or calling the backbone under no_grad(), has the same effect. A hook that
stores detached outputs for a later loss fails in the same way (lucidrains/CoCa-pytorch#6).
Optimizers skip a parameter whose gradient is None, so its weight decay is skipped too.
DistributedDataParallel without find_unused_parameters=True fails in the second forward pass. After
backward(), list the parameters without a gradient: [n for n, p in model.named_parameters() if
p.grad is None]. To use detached features for a plot or a second loss, assign the detached tensor to
a new name.
"""

import torch


def detached(backbone, head, x):
    features = backbone(x).detach()
    output = head(features)
    return output


def data(backbone, head, x):
    return head(backbone(x).data)


def no_grad(backbone, head, x):
    with torch.no_grad():
        features = backbone(x)
    return head(features)


def attached(backbone, head, x):
    features = backbone(x)
    output = head(features)
    return output


def check(device, forward):
    backbone, head = torch.nn.Linear(2, 3).to(device), torch.nn.Linear(3, 1).to(device)
    before = [p.detach().clone() for p in backbone.parameters()]
    parameters = [*backbone.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=0.1, weight_decay=0.1)
    forward(backbone, head, torch.ones(4, 2, device=device)).sum().backward()
    optimizer.step()
    if head.bias.grad is None:
        return "the head has no gradient"
    if backbone.weight.grad is None and all(map(torch.equal, before, backbone.parameters())):
        return "the backbone has not moved, and its gradient is None"
    expected = head.weight.new_tensor(4.0)
    if not torch.allclose(head.bias.grad, expected):
        return "the gradient of the head is wrong"


def reproduce(device):
    seen = {check(device, forward) for forward in (detached, data, no_grad)}
    return seen.pop() if len(seen) == 1 else f"the three ways differ: {seen}"


def control(device):
    return check(device, attached)


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
