# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Adam's weight_decay barely shrinks a weight whose gradients are large"
# kind = "silent"
# symptom = "weight decay changed the weight by 0\\.0%"
# origin = "design"
# documents = [
#     "https://github.com/pytorch/pytorch/issues/48793",
#     "https://github.com/pytorch/pytorch/pull/41679",
#     "https://github.com/pytorch/pytorch/pull/21250",
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.AdamW.html",
# ]
# wrong = '''
# optimizer = torch.optim.Adam(model.parameters(), lr=0.1, weight_decay=0.1)
# '''
# right = '''
# optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.1)
# '''
# rule = "note"
# when = "the gradients are large"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""With large gradients, the weights are the same with and without weight_decay, and there is no
warning.

Adam adds weight_decay * weight to the gradient, which is L2 regularization (pytorch#41679), and
normalizes the sum by the magnitude of the gradients (torch/optim/adam.py). The larger the
gradients, the weaker the decay. The same applies to NAdam, Adamax, Adagrad and RMSprop. AdamW
shrinks the weight itself (pytorch#21250), by lr * weight_decay per step. With lr=1e-3 and a
weight_decay of 1e-4, which is common for Adam, this is only 0.01% in 1000 steps, so choose a new
weight_decay.

AdamW's decay must be larger than the weight's rounding error. If lr * weight_decay is 1e-8, a
float32 weight does not shrink. A bfloat16 weight does not shrink even if this product is 1e-3. For
a weight with zero gradients, the opposite is true: Adam shrinks it by lr per step, far more than
AdamW does.
"""

import torch


def start(device):
    model = torch.nn.Linear(1, 1, bias=False, device=device)
    torch.nn.init.constant_(model.weight, 10.0)
    return model


def check(model, optimizer):
    for _ in range(5):
        optimizer.zero_grad()
        (model.weight * 1e4).sum().backward()
        optimizer.step()
    without, decayed = 9.5, 10.0  # five steps of 0.1
    for _ in range(5):
        decayed = decayed * (1 - 0.1 * 0.1) - 0.1
    seen = model.weight.item()
    if abs(seen - without) < 0.01:
        return f"weight decay changed the weight by {abs(1 - seen / without):.1%}"
    if abs(seen - decayed) > 0.01:
        return f"the weight is {seen:.2f} instead of {decayed:.2f}"


def reproduce(device):
    model = start(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, weight_decay=0.1)
    return check(model, optimizer)


def control(device):
    model = start(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.1)
    return check(model, optimizer)


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
