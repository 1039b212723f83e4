# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A loss term whose name differs from the name of its weight is dropped, and its head never trains"
# kind = "silent"
# symptom = "a head has no gradient"
# origin = "usage"
# reports = [
#     "https://github.com/TencentYoutuResearch/CrowdCounting-P2PNet/issues/48",
#     "https://github.com/TencentYoutuResearch/CrowdCounting-P2PNet/issues/32",
# ]
# wrong = '''
# loss = sum(losses[name] * weights[name] for name in losses if name in weights)
# '''
# right = '''
# loss = sum(losses[name] * weight for name, weight in weights.items())
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""One head gets a gradient, the other does not, and no error is raised, except in DDP without
find_unused_parameters=True. The condition `if name in weights` drops a term whose name is
misspelled. In TencentYoutuResearch/CrowdCounting-P2PNet#48, "loss_point" did not contribute to the
loss, because its weight was named "loss_points".

A loop over the names of the weights raises a KeyError for a misspelled name, and omits numbers that
are only logged. However, it also silently omits a loss that has no weight. If the model omits a
loss in evaluation, such as an auxiliary head's loss, omit its weight there too.
"""

import torch


def if_named(losses, weights):
    loss = sum(losses[name] * weights[name] for name in losses if name in weights)
    return loss


def of_weights(losses, weights):
    loss = sum(losses[name] * weight for name, weight in weights.items())
    return loss


def check(device, loss_of, weights):
    x = torch.ones(2, 3, device=device)
    heads = {name: torch.nn.Linear(3, 1).to(device) for name in ("loss_ce", "loss_points")}
    losses = {name: head(x).mean() for name, head in heads.items()}
    losses["error"] = torch.tensor(0.5, device=device)  # is only logged
    loss_of(losses, weights).backward()
    for name, head in heads.items():
        if head.weight.grad is None:
            return f"a head has no gradient, that of {name}, and nothing was raised"
        if not torch.allclose(head.weight.grad, torch.full_like(head.weight, weights[name])):
            return f"the gradient of {name} is {head.weight.grad.tolist()}"


def reproduce(device):
    return check(device, if_named, {"loss_ce": 1.0, "loss_point": 0.5})


def control(device):
    return check(device, if_named, {"loss_ce": 1.0, "loss_points": 0.5})


def right(device):
    try:
        check(device, of_weights, {"loss_ce": 1.0, "loss_point": 0.5})
    except KeyError:
        return check(device, of_weights, {"loss_ce": 1.0, "loss_points": 0.5})
    return "a weight without a loss was taken"


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, right):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
