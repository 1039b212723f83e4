# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "DDP fails in the second step because a layer that is never called gets no gradient"
# kind = "error"
# symptom = "Expected to have finished reduction in the prior iteration"
# messages = [
#     "Expected to have finished reduction in the prior iteration before starting a new one",
#     "module has parameters that were not used in producing loss",
#     "making sure all .?forward.? function outputs participate in calculating loss",
#     "Parameters which did not receive grad for rank \\d",
#     "Parameter indices which did not receive grad for rank \\d",
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
# model = DistributedDataParallel(net)
# for x, y in batches:
#     optimizer.zero_grad()
#     loss = torch.nn.functional.mse_loss(model(x), y)
#     loss.backward()
#     optimizer.step()
# '''
# right = '''
# model = DistributedDataParallel(net, find_unused_parameters=True)
# for x, y in batches:
#     optimizer.zero_grad()
#     loss = torch.nn.functional.mse_loss(model(x), y)
#     loss.backward()
#     optimizer.step()
# print([name for name, p in net.named_parameters() if p.grad is None])  # not trained: meant to be?
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# platform = "linux"
# ///
"""The first step succeeds, but the forward pass of the second step raises an error. The reducer
reduces gradients in buckets, and waits until every parameter that requires a gradient has one
(torch/csrc/distributed/c10d/reducer.cpp). A layer that is never called in a forward pass never gets
a gradient.

Setting find_unused_parameters=True, as the message suggests, is right if the layer is omitted on
purpose, in all steps or in some. The layer stays unchanged, as it does without DDP. The option also
hides the mistake if the layer was meant to train (NVIDIA-BioNeMo/KERMT#23), so check the printed
names. If one of these layers should train, call it in forward(). The names also include frozen
parameters. From 2.0 on, zero_grad() removes gradients, so the names also include layers that only
the last step omitted. If a step calls the wrapper twice for different layers before backward(), the
option causes the error "Expected to mark a variable ready only once". In that case, call the
wrapper once for both layers, or call backward() after each call. With a reentrant checkpoint, the
option causes the same error: see distributed/find_unused_breaks_checkpointing.
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = torch.nn.Linear(3, 3), torch.nn.Linear(3, 2)
        for weight in self.parameters():
            torch.nn.init.ones_(weight)

    def forward(self, x):
        return self.body(x)


def start(device):
    net = Net().to(device)
    batches = [(torch.ones(1, 3, device=device), torch.zeros(1, 3, device=device))] * 2
    return net, torch.optim.AdamW(net.parameters()), batches


def wrong(device):
    net, optimizer, batches = start(device)
    model = DistributedDataParallel(net)
    for x, y in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()


def with_the_option(device):
    net, optimizer, batches = start(device)
    model = DistributedDataParallel(net, find_unused_parameters=True)
    for x, y in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    print(
        [name for name, p in net.named_parameters() if p.grad is None]
    )  # not trained: meant to be?
    if net.body.weight.max() >= 1 or net.head.weight.min() < 1:
        return "not what one process without the wrapper does"


def on_one_rank(train, device):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        return train(device)  # the wrapper is gone before its process group
    except RuntimeError as error:
        return str(error)
    finally:
        dist.destroy_process_group()


def reproduce(device):
    return on_one_rank(wrong, device)


def control(device):
    return on_one_rank(with_the_option, device)


def messages(device):
    dist.set_debug_level(dist.DebugLevel.INFO)
    try:
        return on_one_rank(wrong, device)
    finally:
        dist.set_debug_level_from_env()


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
