# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Training on several ranks hangs at the end of an epoch because one rank has an extra batch"
# kind = "hang"
# symptom = "Timed out waiting|Wait timeout|timed out"
# messages = ["Timed out waiting \\d{1,12}ms for send operation to complete"]
# elsewhere = [
#     "Timed out waiting \\d{1,12}ms for recv operation to complete",
#     "Watchdog caught collective operation timeout",
#     "Some NCCL operations have failed or timed out",
#     "gloo/transport/tcp/pair\\.cc:\\d{1,5}\\] Connection closed by peer",
#     "Detected uneven workload distribution",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/141069",
#     "https://github.com/microsoft/PyMarlin/issues/80",
#     "https://github.com/QwenAudio/CosyVoice/issues/297",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group",
#     "https://docs.pytorch.org/tutorials/advanced/generic_join.html",
#     "https://github.com/huggingface/accelerate/issues/314",
# ]
# wrong = '''
# for x in batches:  # of this rank, which has one more
#     loss = model(x).mean()
#     loss.backward()
# '''
# right = '''
# import torch.distributed as dist
# steps = torch.tensor(len(batches), device=next(model.parameters()).device)
# dist.all_reduce(steps, op=dist.ReduceOp.MIN)
# for _, x in zip(range(int(steps)), batches):
#     loss = model(x).mean()
#     loss.backward()
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""A collective, such as the gradient reduction in DDP's backward pass, waits until every rank has
entered it. A rank with an extra batch therefore waits until the process group times out, or until
gloo finds that another rank has exited. With gloo, the default timeout is 30 minutes (docs:
init_process_group). Unless another collective ends each epoch, the extra batch is silently reduced
with the other ranks' first batch of the next epoch. In this case, only the last epoch hangs. Data
that is split by hand is often uneven (QwenAudio/CosyVoice#297).

With a longer timeout, as advised in huggingface/accelerate#314, the rank only waits longer.
Instead, let the ranks agree on the smallest number of steps and skip the remaining batches of that
epoch. With gradient accumulation, end the last window at int(steps) instead of len(batches);
otherwise the ranks take different steps and silently drift apart. The loader of an IterableDataset
has no length, or the length that the dataset reports. If fewer batches arrive than this length,
training hangs as before. For an IterableDataset, use a reduction before each step to check that
every rank has a batch.
"""

import tempfile
from datetime import timedelta
from multiprocessing import get_context

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def all_batches(model, batches):
    for x in batches:
        loss = model(x).mean()
        loss.backward()


def equally_many(model, batches):
    steps = torch.tensor(len(batches), device=next(model.parameters()).device)
    dist.all_reduce(steps, op=dist.ReduceOp.MIN)
    for _, x in zip(range(int(steps)), batches):
        loss = model(x).mean()
        loss.backward()


def epoch(rank, folder, loop, seconds):
    url, limit = f"file://{folder}/store", timedelta(seconds=seconds)
    dist.init_process_group("gloo", init_method=url, rank=rank, world_size=2, timeout=limit)
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    try:
        loop(model, [torch.ones(1, 1)] * (3 + rank))
    except RuntimeError as error:
        return str(error)
    if model.module.bias.grad != 3:
        return f"{model.module.bias.grad.item()} steps instead of 3"


def train(loop, seconds):
    with tempfile.TemporaryDirectory() as folder, get_context("fork").Pool(2) as ranks:
        seen = [(rank, folder, loop, seconds) for rank in range(2)]
        return next(filter(None, ranks.starmap(epoch, seen, chunksize=1)), None)


def reproduce(device):
    return train(all_batches, seconds=1)


def control(device):
    return train(equally_many, seconds=10)


def popular_fix(device):
    return train(all_batches, seconds=2)


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
