# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Training hangs because only rank 0 has stopped early"
# kind = "hang"
# symptom = "Timed out waiting|Wait timeout|timed out|[Tt]imeout"
# messages = ["Timed out waiting \\d{1,12}ms for send operation to complete"]
# elsewhere = [
#     "Timed out waiting \\d{1,12}ms for recv operation to complete",
#     "Watchdog caught collective operation timeout",
#     "Some NCCL operations have failed or timed out",
#     "gloo/transport/tcp/pair\\.cc:\\d{1,5}\\] Connection closed by peer",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/54059",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/379",
#     "https://github.com/isi-nlp/rtg/issues/11",
# ]
# documents = [
#     "https://github.com/ultralytics/yolov5/pull/8345",
#     "https://github.com/jpata/particleflow/pull/233",
# ]
# wrong = '''
# for epoch in range(epochs):
#     train(model)
#     if rank == 0 and validate(model) < goal:
#         break
# '''
# right = '''
# import torch.distributed as dist
# for epoch in range(epochs):
#     train(model)
#     done = [rank == 0 and bool(validate(model.module) < goal)]  # the forward of DDP may wait
#     dist.broadcast_object_list(done, src=0)  # here the others wait for rank 0
#     if done[0]:
#         break
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""Rank 0 leaves the loop, and the other ranks wait for it in their next backward pass. The wait
ends when the process group times out (Lightning-AI/pytorch-lightning#379) or, with gloo, when rank
0 exits. All ranks have to make the same decision, so rank 0 broadcasts its decision, as in
ultralytics/yolov5#8345. With NCCL, first call torch.cuda.set_device() on each rank (docs:
broadcast_object_list).

If the model has no buffers, validating only on rank 0 is harmless. If it has buffers, as with
BatchNorm, the wrapper's forward pass after a training step is a collective too. To validate only on
rank 0, call the wrapper's module instead, which does not wait for other ranks (pytorch#54059,
jpata/particleflow#233). Calling barrier() after the validation does not help, because rank 0 has
left the loop. If the validation takes longer than the timeout, use a longer timeout.
"""

import tempfile
from datetime import timedelta
from multiprocessing import get_context

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def alone(rank, model, epochs, train, validate, goal):
    for epoch in range(epochs):
        train(model)
        if rank == 0 and validate(model) < goal:
            break


def together(rank, model, epochs, train, validate, goal):
    for epoch in range(epochs):
        train(model)
        done = [rank == 0 and bool(validate(model.module) < goal)]  # the forward of DDP may wait
        dist.broadcast_object_list(done, src=0)  # here the others wait for rank 0
        if done[0]:
            break


def with_a_barrier(rank, model, epochs, train, validate, goal):
    for epoch in range(epochs):
        train(model)
        if rank == 0 and validate(model) < goal:
            break
        dist.barrier()


def on_a_rank(rank, folder, loop, seconds):
    url, limit = f"file://{folder}/store", timedelta(seconds=seconds)
    dist.init_process_group("gloo", init_method=url, rank=rank, world_size=2, timeout=limit)
    model, losses = DistributedDataParallel(torch.nn.Linear(1, 1)), []

    def train(model):
        model(torch.ones(1, 1)).mean().backward()

    @torch.no_grad()
    def validate(model):
        losses.append(model(torch.ones(1, 1)).mean())
        return 3 - len(losses)

    try:
        loop(rank, model, 9, train, validate, goal=1)
    except RuntimeError as error:
        return str(error)
    if model.module.bias.grad != 3:
        return f"{model.module.bias.grad.item()} epochs instead of 3"


def start(loop, seconds):
    with tempfile.TemporaryDirectory() as folder, get_context("fork").Pool(2) as ranks:
        seen = [(rank, folder, loop, seconds) for rank in range(2)]
        return next(filter(None, ranks.starmap(on_a_rank, seen, chunksize=1)), None)


def reproduce(device):
    return start(alone, seconds=1)


def control(device):
    return start(together, seconds=10)


def popular_fix(device):
    return start(with_a_barrier, seconds=1)


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
