import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def loaders(train_set, val_set, distributed):
    train = DataLoader(train_set, 8, sampler=DistributedSampler(train_set))
    val_sampler = None
    if distributed:
        val_sampler = DistributedSampler(val_set, shuffle=False)  # finds validation_counts_padding
    return train, DataLoader(val_set, 8, sampler=val_sampler)


def test_loader(dataset):
    return dataset


def build(args, dataset_test, rows):
    return DataLoader(
        dataset_test,
        batch_size=8,
        sampler=torch.utils.data.DistributedSampler(  # finds validation_counts_padding
            dataset_test, num_replicas=args.ranks, rank=args.rank
        ),
    ), DataLoader(rows, 8, sampler=DistributedSampler(rows, shuffle=False))


def right(val_set, devices, rank, ranks, local_rank):
    own = torch.utils.data.Subset(val_set, range(rank, len(val_set), ranks))
    equal = DistributedSampler(val_set, shuffle=False, drop_last=True)
    some = DistributedSampler(devices)
    return DataLoader(own), DataLoader(val_set, sampler=equal), DataLoader(devices, sampler=some)
