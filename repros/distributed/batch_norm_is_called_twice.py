# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Calling a model with BatchNorm twice before one backward pass fails under DDP"
# kind = "error"
# symptom = "modified by an inplace operation"
# messages = [
#     "one of the variables needed for gradient computation has been modified by an in-?place operation",
# ]
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/110363",
#     "https://github.com/pytorch/pytorch/issues/175024",
# ]
# documents = ["https://github.com/pytorch/pytorch/pull/175851"]
# fixed_by = "pytorch#175851"
# wrong = '''
# model = DistributedDataParallel(net)
# loss = (model(fake) - model(real)).mean()
# loss.backward()
# '''
# right = '''
# import torch.distributed as dist
# model = DistributedDataParallel(net, broadcast_buffers=False)
# loss = (model(fake) - model(real)).mean()
# loss.backward()
# for buffer in net.buffers():  # what DDP does before each forward
#     dist.broadcast(buffer, src=0)
# '''
# affected = { cpu = ">=1.13,<2.12", cuda = ">=1.13,<2.12" }
# platform = "linux"
# ///
"""The error names a tensor with as many elements as BatchNorm has channels. Before a forward pass,
DDP broadcasts the buffers from rank 0 (broadcast_buffers=True is the default), unless the previous
forward pass was in no_sync(). Therefore, using no_sync() only for the second forward pass does not
help. The broadcast writes running_mean and running_var in place (pytorch#175024), after the first
forward pass has saved them for its backward pass. With track_running_stats=False these buffers do
not exist (docs: BatchNorm1d).

The error also occurs with a single process and, contrary to pytorch#175024, before torch 2.6 as
well. With broadcast_buffers=False, the ranks' running statistics drift apart, so broadcast the
statistics after the backward pass. On 2.3 and 2.15, the wrapper does not broadcast them at the
start either. Therefore, if only rank 0 has loaded a checkpoint, also broadcast them once before the
first forward pass. Torch 2.13 and 2.15, where nothing fails, warn that broadcast_buffers is
deprecated (torch/nn/parallel/distributed.py).
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def start(device):
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 3)).to(device)
    return net, torch.zeros(4, 3, device=device), torch.arange(12.0, device=device).view(4, 3)


def wrong(device):
    net, fake, real = start(device)
    model = DistributedDataParallel(net)
    loss = (model(fake) - model(real)).mean()
    loss.backward()


def without_broadcasts(device):
    net, fake, real = start(device)
    model = DistributedDataParallel(net, broadcast_buffers=False)
    loss = (model(fake) - model(real)).mean()
    loss.backward()
    for buffer in net.buffers():  # what DDP does before each forward
        dist.broadcast(buffer, src=0)
    expected = 0.1 * real.mean(0)  # after the zeros
    if not torch.allclose(net[0].running_mean, expected) or net[1].weight.grad is None:
        return "not the statistics and gradients without the wrapper"


def on_one_rank(train, device):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        return train(device)  # the wrapper is gone before its process group
    except RuntimeError as error:
        return str(error)
    finally:
        dist.barrier()  # or torch 2.0 to 2.7 may wait for ever in the next line
        dist.destroy_process_group()


def reproduce(device):
    return on_one_rank(wrong, device)


def control(device):
    return on_one_rank(without_broadcasts, device)


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
