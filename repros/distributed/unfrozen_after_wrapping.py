# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Layers unfrozen after DDP was constructed train without synchronizing their gradients"
# kind = "silent"
# symptom = "2 of 4 gradients were reduced"
# origin = "design"
# reports = ["https://github.com/Lightning-AI/pytorch-lightning/issues/20340"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
#     "https://github.com/paninski-lab/lightning-pose/pull/205",
# ]
# wrong = '''
# model = DistributedDataParallel(net)
# net.backbone.requires_grad_(True)
# '''
# right = '''
# net.backbone.requires_grad_(True)
# model = DistributedDataParallel(net)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""The unfrozen layer gets different gradients on each rank. When DDP is constructed, it registers
its hooks on the parameters that require a gradient at that time. This set of parameters must never
change (docs: DistributedDataParallel), but DDP does not check this.

Create a new wrapper after unfreezing. If a trainer such as Lightning wraps the model, do not freeze
the backbone. Instead, keep it unchanged with a learning rate of 0
(paninski-lab/lightning-pose#205).
"""

from collections import OrderedDict

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def start(device):
    layers = OrderedDict(backbone=torch.nn.Linear(3, 3), head=torch.nn.Linear(3, 1))
    layers["backbone"].requires_grad_(False)
    return torch.nn.Sequential(layers).to(device)


def wrap_first(device):
    net = start(device)
    model = DistributedDataParallel(net)
    net.backbone.requires_grad_(True)
    return check(model, device)


def unfreeze_first(device):
    net = start(device)
    net.backbone.requires_grad_(True)
    model = DistributedDataParallel(net)
    return check(model, device)


def check(model, device):
    reduced = []

    def count(state, bucket):
        reduced.extend(bucket.parameters())
        future = torch.futures.Future()
        future.set_result(bucket.buffer())
        return future

    model.register_comm_hook(None, count)
    model(torch.ones(1, 3, device=device)).sum().backward()
    gradients = sum(parameter.grad is not None for parameter in model.parameters())
    if (len(reduced), gradients) != (4, 4):
        return f"{len(reduced)} of {gradients} gradients were reduced"


def train(steps, device):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        return steps(device)  # the wrapper is gone before its process group
    finally:
        dist.destroy_process_group()


def reproduce(device):
    return train(wrap_first, device)


def control(device):
    return train(unfreeze_first, device)


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
