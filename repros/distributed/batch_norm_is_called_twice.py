# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Two forwards of a model with BatchNorm before one backward raise under DDP"
# kind = "error"
# symptom = "modified by an inplace operation"
# messages = [
#     "one of the variables needed for gradient computation has been modified by an in-?place operation",
# ]
# keywords = [
#     "GAN discriminator with DDP in-place error",
#     "works without DistributedDataParallel, inplace operation with it",
#     "broadcast_buffers=False fixes it",
#     "real and fake batch through the discriminator",
#     "siamese network with BatchNorm on several GPUs",
#     "GAN trains on one gpu, crashes with DDP",
#     "calling the network twice per step fails on multiple gpus",
#     "teacher student or siamese forward twice with DDP fails",
#     "works without batch norm, fails with it under DDP",
# ]
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/22095",
#     "https://github.com/pytorch/pytorch/issues/110363",
#     "https://github.com/pytorch/pytorch/issues/175024",
# ]
# documents = ["https://github.com/pytorch/pytorch/pull/175851"]
# fixed_by = "pytorch#175851"
# wrong = '''
# model = DistributedDataParallel(net)
# (model(fake) + model(real)).sum().backward()
# '''
# right = '''
# model = DistributedDataParallel(net, broadcast_buffers=False)
# '''
# affected = { cpu = ">=1.13,<2.12", cuda = ">=1.13,<2.12" }
# platform = "linux"
# ///
"""The backward names a tensor as long as BatchNorm has channels. Before each forward DDP
broadcasts the buffers from rank 0, which writes running_mean and running_var in place
(pytorch#175024); the backward of the first forward had saved them.

It happens with a single process as well.
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def step(device, **options):
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3)).to(device)
    model = DistributedDataParallel(net, **options)
    fake, real = torch.zeros(4, 3, device=device), torch.ones(4, 3, device=device)
    try:
        (model(fake) + model(real)).sum().backward()
    except RuntimeError as error:
        return str(error)


def train(*args, **options):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        return step(*args, **options)  # the wrapper is gone before its process group
    finally:
        dist.destroy_process_group()


def reproduce(device):
    return train(device)


def control(device):
    return train(device, broadcast_buffers=False)


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
