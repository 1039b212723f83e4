# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A layer added to a model after DDP wrapped it trains without synchronizing its gradients"
# kind = "silent"
# symptom = "2 of 4 gradients were averaged"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
#     "https://github.com/NVIDIA/apex/issues/109",
# ]
# wrong = '''
# model = DistributedDataParallel(net)
# net.append(torch.nn.Linear(3, 1, device=device))
# '''
# right = '''
# net.append(torch.nn.Linear(3, 1, device=device))
# model = DistributedDataParallel(net)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""The layer gets different weights on each rank, but no error is raised. With the same seed on all
ranks, only the initial weights are equal.

When DDP is constructed, it broadcasts the parameters of rank 0 and registers its hooks on them. No
parameter should be added or removed later (docs: DistributedDataParallel). Finish the model first,
as advised in NVIDIA/apex#109 for a similar wrapper. If a layer is replaced, the old layer's
parameters get no gradient, and the second step fails: see distributed/frozen_after_wrapping. Add
the new layer's parameters to the optimizer too.
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def add_last(net, device):
    model = DistributedDataParallel(net)
    net.append(torch.nn.Linear(3, 1, device=device))
    return check(model, device)


def wrap_last(net, device):
    net.append(torch.nn.Linear(3, 1, device=device))
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
        return f"{len(reduced)} of {gradients} gradients were averaged"


def train(steps, device):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        with torch.random.fork_rng():
            net = torch.nn.Sequential(torch.nn.Linear(3, 3)).to(device)
            return steps(net, device)  # the wrapper is gone before its process group
    finally:
        dist.destroy_process_group()


def reproduce(device):
    return train(add_last, device)


def control(device):
    return train(wrap_last, device)


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
