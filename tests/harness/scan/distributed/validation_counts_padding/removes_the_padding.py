import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def evaluates(model, test_set, ranks):
    loader = DataLoader(test_set, 8, sampler=DistributedSampler(test_set, shuffle=False))
    gathered = [None] * ranks
    dist.all_gather_object(gathered, [model(x) for x in loader])
    predictions = [p for rows in zip(*gathered, strict=True) for p in rows]
    return predictions[: len(test_set)]
