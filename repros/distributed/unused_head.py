# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The second step under DDP raises: a layer that the forward never calls waits for its gradient"
# kind = "error"
# symptom = "Expected to have finished reduction in the prior iteration"
# messages = [
#     "Expected to have finished reduction in the prior iteration before starting a new one",
#     "module has parameters that were not used in producing loss",
#     "Parameters which did not receive grad for rank \\d",
#     "Parameter indices which did not receive grad for rank \\d",
# ]
# keywords = [
#     "DDP unused parameters",
#     "find_unused_parameters=True is slow",
#     "works on one GPU, fails with DistributedDataParallel",
#     "which parameters did not receive a gradient",
#     "head never trains after find_unused_parameters",
#     "single gpu works, DDP fails at second iteration",
#     "part of my model is not used in forward",
#     "multi-task model with unused branch on several gpus",
#     "which layers have no gradient under DDP",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/ImprintLab/MedSegDiff/issues/27",
#     "https://github.com/open-mmlab/mmdetection3d/issues/488",
#     "https://github.com/NVIDIA-BioNeMo/KERMT/issues/23",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/csrc/distributed/c10d/reducer.cpp",
# ]
# wrong = '''
# self.head = torch.nn.Linear(3, 2)  # and the forward returns
# return self.body(x)
# '''
# right = '''
# return self.head(self.body(x))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""The first step passes; the forward of the second raises. The reducer reduces gradients
in buckets and waits until every parameter that requires a gradient has one
(torch/csrc/distributed/c10d/reducer.cpp); a layer that no forward calls never gets one.

The advice of the message itself, find_unused_parameters=True, ends the error and not
its cause: the head still has no gradient. It masks layers that were meant to train
(NVIDIA-BioNeMo/KERMT#23).
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Net(torch.nn.Module):
    def __init__(self, use_head):
        super().__init__()
        self.body, self.head, self.use_head = torch.nn.Linear(3, 3), torch.nn.Linear(3, 2), use_head

    def forward(self, x):
        return self.head(self.body(x)) if self.use_head else self.body(x)


def two_steps(device, use_head, **options):
    model = DistributedDataParallel(Net(use_head).to(device), **options)
    try:
        for _ in range(2):
            model(torch.ones(1, 3, device=device)).sum().backward()
    except RuntimeError as error:
        return str(error)
    if model.module.head.weight.grad is None:
        return "no error, and the head has no gradient"


def train(*args, **options):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        return two_steps(*args, **options)  # the wrapper is gone before its process group
    finally:
        dist.destroy_process_group()


def reproduce(device):
    return train(device, use_head=False)


def control(device):
    return train(device, use_head=True)


def popular_fix(device):
    return train(device, use_head=False, find_unused_parameters=True)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
