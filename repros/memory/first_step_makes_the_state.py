# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "With a batch size that fits without optimizer.step(), training runs out of memory in Adam's second step"
# kind = "oom"
# symptom = "the trial ran without the state of the optimizer"
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
# criterion(model(x), y).backward()  # it fits
# optimizer.zero_grad()
# '''
# right = '''
# import copy
# trial, trained = copy.deepcopy((model, optimizer))
# for _ in range(2):  # the second starts with the state of the optimizer
#     criterion(trial(x), y).backward()
#     trained.step()
#     trained.zero_grad()
# del trial, trained
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A batch that fits in a single backward pass does not fit in training, because the first step()
allocates the optimizer's state and keeps it. For Adam without amsgrad, the state is twice the size
of the trained parameters; SGD without momentum has none (torch/optim/adam.py, pytorch#18643,
NVIDIA/Megatron-LM#4638).

Every later step starts with parameters, gradients and state in memory. A batch size search that
never calls step() measures the memory without the state (roboflow/rf-detr#1342). Two steps on a
copy include the state and a second set of weights, so a batch that fits in these steps also fits in
training. The two steps leave the model and the optimizer unchanged, but draw from the random
generators like any other step. If `criterion` has parameters, copy it too, because it would
otherwise keep the trial's gradients. Some models cannot be copied: see
autograd/deepcopy_of_weight_norm and autograd/deepcopy_of_a_kept_output.
"""

import copy
import gc

import torch


def state():
    """How many numbers all optimizers hold besides the parameters."""
    optimizers = [one for one in gc.get_objects() if isinstance(one, torch.optim.Adam)]
    tensors = [each for one in optimizers for kept in one.state.values() for each in kept.values()]
    return sum(each.numel() for each in tensors if torch.is_tensor(each) and each.numel() > 1)


def start(device):
    gc.collect()
    seen, before = [], state()

    def criterion(output, y):
        seen.append(state() - before)
        return (output - y).square().sum()

    model = torch.nn.Linear(1000, 1, bias=False).to(device)
    x, y = torch.ones(1, 1000, device=device), torch.zeros(1, 1, device=device)
    return model, torch.optim.Adam(model.parameters()), criterion, x, y, seen


def check(model, optimizer, seen, weight):
    if seen[-1] < 2000:
        return f"the trial ran without the state of the optimizer, {seen[-1]} of 2000 numbers"
    if optimizer.state or model.weight.grad is not None or not torch.equal(model.weight, weight):
        return "the trial has trained the model"


def reproduce(device):
    model, optimizer, criterion, x, y, seen = start(device)
    weight = model.weight.detach().clone()
    criterion(model(x), y).backward()  # it fits
    optimizer.zero_grad()
    return check(model, optimizer, seen, weight)


def control(device):
    model, optimizer, criterion, x, y, seen = start(device)
    weight = model.weight.detach().clone()
    trial, trained = copy.deepcopy((model, optimizer))
    for _ in range(2):  # the second starts with the state of the optimizer
        criterion(trial(x), y).backward()
        trained.step()
        trained.zero_grad()
    del trial, trained
    return check(model, optimizer, seen, weight)


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
