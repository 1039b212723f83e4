# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Without a process group, DistributedSampler and DistributedDataParallel raise an error"
# kind = "error"
# symptom = "Default process group has not been initialized"
# messages = ["Default process group has not been initialized"]
# elsewhere = ["Default process group is not initialized"]
# origin = "usage"
# reports = [
#     "https://github.com/OpenGVLab/UniFormerV2/issues/76",
#     "https://github.com/NoamRosenberg/autodeeplab/issues/98",
#     "https://github.com/bosung/MTL-KGC/issues/1",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/distributed.py",
#     "https://docs.pytorch.org/docs/stable/elastic/run.html",
# ]
# wrong = '''
# sampler = DistributedSampler(dataset)
# loader = DataLoader(dataset, batch_size=8, sampler=sampler)
# '''
# right = '''
# import torch.distributed as dist
# there = dist.is_available() and dist.is_initialized()
# ranks, rank = (dist.get_world_size(), dist.get_rank()) if there else (1, 0)
# sampler = DistributedSampler(dataset, num_replicas=ranks, rank=rank)
# loader = DataLoader(dataset, batch_size=8, sampler=sampler)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""A script that was written for several GPUs is started as a single process. DistributedSampler
asks the default process group for the number of ranks (torch/utils/data/distributed.py), but no
group exists before init_process_group() is called. DistributedDataParallel and barrier() fail in
the same way, so omit both if `there` is false. The model then has no .module.

As rank 0 of 1, the sampler shuffles as usual, and set_epoch() works. Under torchrun, the sampler
needs the group, so call init_process_group() first. Otherwise each rank silently reads all rows. To
run a script that calls init_process_group() as a single process, start it with torchrun
--standalone --nproc_per_node=1 (docs: torchrun).
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def reproduce(device):
    dataset = list(range(20))
    try:
        sampler = DistributedSampler(dataset)
        loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    except (RuntimeError, ValueError) as error:
        return str(error)
    list(loader)


def control(device):
    dataset = list(range(20))
    there = dist.is_available() and dist.is_initialized()
    ranks, rank = (dist.get_world_size(), dist.get_rank()) if there else (1, 0)
    sampler = DistributedSampler(dataset, num_replicas=ranks, rank=rank)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    sampler.set_epoch(3)
    order = torch.randperm(20, generator=torch.Generator().manual_seed(3))
    if not torch.equal(torch.cat(list(loader)), order):
        return "another order than the shuffle of that epoch"


def messages(device):
    texts = []
    for call in (lambda: DistributedDataParallel(torch.nn.Linear(1, 1)), dist.barrier):
        try:
            call()
        except (RuntimeError, ValueError) as error:
            texts.append(str(error))
    return "\n".join(texts)


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
