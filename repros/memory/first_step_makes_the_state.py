# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A batch size that fits without optimizer.step() runs out of memory in the second step"
# kind = "oom"
# symptom = "the second step starts with 4000 numbers held, the trial with 2000"
# keywords = [
#     "out of memory in the second iteration",
#     "first step fits and second does not",
#     "Adam needs more memory than SGD",
#     "batch size search picks too large a batch",
#     "memory jumps after the first step",
#     "crashes on the second batch with out of memory",
#     "one iteration works, then cuda memory runs out",
#     "gpu memory jumps after optimizer.step",
#     "forward and backward fit, training does not",
#     "fine-tuning fits for one step only",
#     "memory doubles or triples after the first update",
#     "auto batch size finder says it fits, training crashes",
#     "works with SGD, out of memory with Adam or AdamW",
#     "why does the second iteration need more memory",
#     "first batch ok, second batch out of memory",
#     "large language model fine-tuning dies on step two",
#     "memory estimate from one forward backward is too low",
#     "same batch size crashes one iteration later",
#     "how much gpu memory does the optimizer take",
# ]
# origin = "design"
# reports = [
#     "https://github.com/NVIDIA/Megatron-LM/issues/640",
#     "https://github.com/pytorch/pytorch/issues/9439",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/issues/18643",
#     "https://github.com/roboflow/rf-detr/pull/1342",
#     "https://github.com/pytorch/tutorials/pull/2568",
#     "https://github.com/NVIDIA/Megatron-LM/pull/4638",
# ]
# wrong = '''
# weight.sum().backward()  # it fits
# '''
# right = '''
# weight.sum().backward()
# optimizer.step()  # and then another batch: that one has to fit
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A batch that fits by itself does not fit in training: the first step() allocates the
optimizer's state, for Adam twice the size of the parameters, and keeps it
(torch/optim/adam.py, pytorch#18643, NVIDIA/Megatron-LM#4638).

Parameters, gradients and state are what every later step starts with. A search of the
batch size that never steps measures without the state (roboflow/rf-detr#1342).
"""

import torch


def held(weight, optimizer):
    state = [each for each in optimizer.state[weight].values() if torch.is_tensor(each)]
    return sum(each.numel() for each in (weight, weight.grad, *state) if each.numel() > 1)


def search(device, trial_steps):
    weight = torch.ones(1000, device=device, requires_grad=True)
    optimizer = torch.optim.Adam([weight])
    weight.sum().backward()
    if trial_steps:
        optimizer.step()
    trial = held(weight, optimizer)
    optimizer.step()
    second = held(weight, optimizer)
    if second > trial:
        return f"the second step starts with {second} numbers held, the trial with {trial}"


def reproduce(device):
    return search(device, trial_steps=False)


def control(device):
    return search(device, trial_steps=True)


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
