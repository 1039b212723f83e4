# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "With a summed loss, splitting a batch across two ranks halves the gradient"
# kind = "silent"
# symptom = "gradient 1.5 on 2 ranks, 3.0 on one"
# origin = "design"
# documents = [
#     "https://github.com/pytorch/pytorch/issues/37359",
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
#     "https://github.com/facebookresearch/fairseq/issues/494",
# ]
# wrong = '''
# loss = model(x).sum()
# '''
# right = '''
# import torch.distributed as dist
# loss = model(x).sum() * dist.get_world_size()  # for the backward alone: it is not what to log
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""DDP divides the sum of the ranks' gradients by the number of ranks. If the loss is a mean over
the batch, and all ranks have the same number of rows, the result is right. With a sum, the gradient
on n ranks is n times smaller than the gradient of a single process with the whole batch
(pytorch#37359). Like the corrected code, fairseq multiplies by the number of ranks
(facebookresearch/fairseq#494). Do not multiply a mean, because its gradient would become n times
too large. AdamW cancels a constant factor. The failure therefore appears only with SGD, with Adam
and weight_decay, or if gradients are clipped.

Without a process group, as in a run on one GPU, get_world_size() raises an error. The factor is
then 1. If DDP has its own process_group, the factor is get_world_size(process_group).
"""

import tempfile
from multiprocessing import get_context

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def gradient(rank, folder, scale):
    url = f"file://{folder}/store"
    dist.init_process_group("gloo", init_method=url, rank=rank, world_size=2)
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    x = torch.full((1, 1), rank + 1.0)
    if scale:
        loss = (
            model(x).sum() * dist.get_world_size()
        )  # for the backward alone: it is not what to log
    else:
        loss = model(x).sum()
    loss.backward()
    return model.module.weight.grad.item()


def train(scale):
    with tempfile.TemporaryDirectory() as folder, get_context("fork").Pool(2) as ranks:
        shared = ranks.starmap(gradient, [(rank, folder, scale) for rank in range(2)])
    alone = torch.nn.Linear(1, 1)
    alone(torch.tensor([[1.0], [2.0]])).sum().backward()
    if shared != [alone.weight.grad.item()] * 2:
        return f"gradient {shared[0]} on 2 ranks, {alone.weight.grad.item()} on one"


def reproduce(device):
    return train(scale=False)


def control(device):
    return train(scale=True)


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
