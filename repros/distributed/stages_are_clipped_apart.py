# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "clip_grad_norm_() on each rank scales pipeline stages by different factors"
# kind = "silent"
# symptom = "the gradients are 5.0 and 5.0 instead of 3.0 and 4.0"
# origin = "usage"
# reports = ["https://github.com/pytorch/torchtitan/issues/596"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html",
#     "https://github.com/hpcaitech/ColossalAI/pull/4837",
# ]
# wrong = '''
# torch.nn.utils.clip_grad_norm_(stage.parameters(), max_norm)
# '''
# right = '''
# import torch.distributed as dist
# grads = [p.grad for p in stage.parameters() if p.grad is not None]
# device = next(stage.parameters()).device
# total = sum((g.float().square().sum() for g in grads), torch.zeros((), device=device))
# dist.all_reduce(total)  # with group=, if not every rank is a stage of this pipeline
# factor = (max_norm / (total.sqrt() + 1e-6)).clamp(max=1.0)
# for g in grads:
#     g.mul_(factor)
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""The direction of the step changes, and the norm of all gradients may stay above max_norm.

clip_grad_norm_() knows only the parameters that are passed to it (docs: clip_grad_norm_), here the
parameters of one stage. The norm must cover the whole model, so the squares are summed over the
stages (pytorch/torchtitan#596). The same applies to tensors that are split across ranks. A
parameter of which several ranks have a copy must be counted only once (hpcaitech/ColossalAI#4837).
If the first and the last stage share an embedding, leave its gradient out of the sum on one of the
two stages. With DDP, every rank has all gradients, and clip_grad_norm_() is right. The squares are
computed in float32, because they would overflow in float16.
"""

import tempfile
from datetime import timedelta
from multiprocessing import get_context

import torch
import torch.distributed as dist


def each(stage, max_norm):
    torch.nn.utils.clip_grad_norm_(stage.parameters(), max_norm)


def all_together(stage, max_norm):
    grads = [p.grad for p in stage.parameters() if p.grad is not None]
    device = next(stage.parameters()).device
    total = sum((g.float().square().sum() for g in grads), torch.zeros((), device=device))
    dist.all_reduce(total)  # with group=, if not every rank is a stage of this pipeline
    factor = (max_norm / (total.sqrt() + 1e-6)).clamp(max=1.0)
    for g in grads:
        g.mul_(factor)


def on_a_rank(rank, folder, clip, device):
    url, limit = f"file://{folder}/store", timedelta(seconds=20)
    dist.init_process_group("gloo", init_method=url, rank=rank, world_size=2, timeout=limit)
    stage = torch.nn.Linear(1, 1, bias=False).to(device)
    stage(torch.tensor([[(30.0, 40.0)[rank]]], device=device)).sum().backward()
    clip(stage, 5.0)
    dist.barrier()
    return stage.weight.grad.item()


def start(clip, device):
    with tempfile.TemporaryDirectory() as folder, get_context("fork").Pool(2) as ranks:
        arguments = [(rank, folder, clip, device) for rank in range(2)]
        first, second = ranks.starmap(on_a_rank, arguments, chunksize=1)
    if abs(first - 3) > 1e-3 or abs(second - 4) > 1e-3:  # the norm of 30 and 40 is 50
        return f"the gradients are {first:.1f} and {second:.1f} instead of 3.0 and 4.0"


def reproduce(device):
    return start(each, device)


def control(device):
    return start(all_together, device)


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
