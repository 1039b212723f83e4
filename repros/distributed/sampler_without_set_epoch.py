# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "DistributedSampler delivers the same order in every epoch unless set_epoch() is called"
# kind = "silent"
# symptom = "3 epochs, 1 order"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/31771",
#     "https://github.com/kan-bayashi/ParallelWaveGAN/issues/177",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler",
# ]
# wrong = '''
# sampler = DistributedSampler(dataset, num_replicas=ranks, rank=rank)
# loader = DataLoader(dataset, batch_size=8, sampler=sampler)
# for epoch in range(3):
#     for batch in loader:
#         train(batch)
# '''
# right = '''
# sampler = DistributedSampler(dataset, num_replicas=ranks, rank=rank)
# loader = DataLoader(dataset, batch_size=8, sampler=sampler)
# for epoch in range(3):
#     sampler.set_epoch(epoch)
#     for batch in loader:
#         train(batch)
# '''
# rule = "error"
# when = "the script trains for more than one epoch on several processes"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The sampler shuffles, but the order is the same in every epoch. All ranks have to draw the same
permutation, so the sampler draws it from its own generator, seeded with seed + epoch. The epoch
stays 0 unless you call set_epoch() (torch/utils/data/distributed.py).

After a resume, continue from the epoch that was reached, because counting from 0 again repeats the
orders of the first epochs. With shuffle=False, set_epoch() changes nothing.
"""

import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def start():
    read = []
    return list(range(1000)), 2, 0, read, lambda batch: read.extend(batch.tolist())


def check(read):
    orders = [read[:500], read[500:1000], read[1000:]]
    if orders[0] == orders[1] == orders[2]:
        return "3 epochs, 1 order"
    for epoch, order in enumerate(orders):
        rows = torch.randperm(1000, generator=torch.Generator().manual_seed(epoch))
        if order != rows[::2].tolist():
            return f"not the half of rank 0 of the permutation of epoch {epoch}"


def reproduce(device):
    dataset, ranks, rank, read, train = start()
    sampler = DistributedSampler(dataset, num_replicas=ranks, rank=rank)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    for epoch in range(3):
        for batch in loader:
            train(batch)
    return check(read)


def control(device):
    dataset, ranks, rank, read, train = start()
    sampler = DistributedSampler(dataset, num_replicas=ranks, rank=rank)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for batch in loader:
            train(batch)
    return check(read)


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
