# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A training step that calls model.module does not synchronize gradients"
# kind = "silent"
# symptom = "0 reductions in 2 steps"
# origin = "design"
# reports = [
#     "https://github.com/kohya-ss/sd-scripts/issues/924",
#     "https://github.com/moojink/openvla-oft/issues/160",
#     "https://github.com/rosinality/swapping-autoencoder-pytorch/issues/22",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/parallel/distributed.py",
# ]
# wrong = '''
# model.module(x).sum().backward()
# '''
# right = '''
# model(x).sum().backward()
# '''
# rule = "warning"
# when = "the model is wrapped in DistributedDataParallel"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""No error is raised, but the ranks drift apart (moojink/openvla-oft#160). DDP prepares its reducer
in its own forward() (torch/nn/parallel/distributed.py). A step that calls model.module or one of
its methods from outside bypasses DDP's forward(), so its backward pass reduces nothing. If the
wrapper was called with gradients enabled since the last backward pass, the next backward pass does
reduce.

Give the model a single forward() for the whole step, and call it through the wrapper. If a step
then leaves some parameters unused, DDP needs find_unused_parameters=True: see
distributed/unused_head.
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def through_module(model, x):
    for _ in range(2):
        model.module(x).sum().backward()


def through_wrapper(model, x):
    for _ in range(2):
        model(x).sum().backward()


def count(reductions, bucket):
    reductions.append(bucket.index())
    future = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future


def two_steps(loop, device):
    model, reductions = DistributedDataParallel(torch.nn.Linear(3, 1).to(device)), []
    model.register_comm_hook(reductions, count)
    loop(model, torch.ones(1, 3, device=device))
    if len(reductions) != 2:
        return f"{len(reductions)} reductions in 2 steps"


def train(*args):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        return two_steps(*args)  # the wrapper is gone before its process group
    finally:
        dist.destroy_process_group()


def reproduce(device):
    return train(through_module, device)


def control(device):
    return train(through_wrapper, device)


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
