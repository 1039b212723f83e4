# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A parameter frozen during training with requires_grad_(False) goes on moving"
# kind = "silent"
# symptom = "the frozen weight moved from -1\\.0 to -"
# keywords = [
#     "frozen layers still change",
#     "weights updated although requires_grad is False",
#     "freeze after some epochs does not work",
#     "frozen parameters drift with weight decay",
#     "unfrozen and frozen again keeps training",
#     "frozen weights keep changing during training",
#     "froze the backbone but its weights still update",
#     "requires_grad=False set mid-training and the layer changes",
#     "weights of a frozen layer differ after an epoch",
#     "freezing layers in the middle of training is ignored",
#     "layer should stay fixed but drifts slowly",
#     "pretrained encoder changes even though it is frozen",
#     "embedding values shift after I froze them",
#     "freeze after warmup epochs does not hold",
#     "old task weights change in continual learning",
#     "checksum of frozen parameters changes every step",
#     "alternating training of two parts, the frozen one moves",
#     "parameters with requires_grad False are modified by Adam",
#     "frozen generator changes in the discriminator step",
# ]
# origin = "design"
# reports = ["https://discuss.pytorch.org/t/why-there-is-still-a-small-change-in-frozen-layer-parameters/153740"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html",
#     "https://github.com/iamwangyabin/S-Prompts/pull/2",
# ]
# wrong = '''
# optimizer.zero_grad(set_to_none=False)
# weight.requires_grad_(False)
# '''
# right = '''
# optimizer.zero_grad(set_to_none=False)
# weight.requires_grad_(False)
# weight.grad = None
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The frozen layer changes a little with every step: its old gradient is still there, or a
gradient of zeros, and step() looks at nothing but .grad
(discuss.pytorch.org/t/153740, torch/optim/sgd.py).

Zeros are enough for momentum, as here, or weight decay (iamwangyabin/S-Prompts#2) to move it.
zero_grad() removes the gradient since torch 2.0 unless it is told not to, and wrote zeros before
(docs: torch.optim.Optimizer.zero_grad).
"""

import torch


def train(device, drop_gradient):
    weight, other = (torch.zeros(1, device=device, requires_grad=True) for _ in range(2))
    optimizer = torch.optim.SGD([weight, other], lr=1.0, momentum=0.9)
    for frozen in (False, True):
        optimizer.zero_grad(set_to_none=False)
        if frozen:
            before = weight.item()
            weight.requires_grad_(False)
            if drop_gradient:
                weight.grad = None
        (weight + other).sum().backward()
        optimizer.step()
    if weight.item() != before:
        return f"the frozen weight moved from {before} to {weight.item()}"


def reproduce(device):
    return train(device, drop_gradient=False)


def control(device):
    return train(device, drop_gradient=True)


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
