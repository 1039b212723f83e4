import torch
from torch.utils.data import DataLoader, Dataset


def shuffles_twice(rows, weights):
    sampler = torch.utils.data.WeightedRandomSampler(weights, 8)
    return DataLoader(rows, sampler=sampler, shuffle=True)  # finds sampler_excludes_shuffle


def shuffles_batches_twice(rows, batches):
    return DataLoader(  # finds sampler_excludes_shuffle
        rows, batch_sampler=torch.utils.data.BatchSampler(batches, 8, False), shuffle=True
    )


def shuffles_once(rows, weights):
    sampler = torch.utils.data.WeightedRandomSampler(weights, 8)
    return DataLoader(rows, sampler=sampler, shuffle=False)


def shuffles_without_a_sampler(rows, sampler=None):
    return DataLoader(rows, sampler=sampler, shuffle=True)


class Inherits(Dataset):
    def loader(self):
        return DataLoader(self.rows, sampler=self.sampler, shuffle=True)


def shuffles_alone(rows):
    return DataLoader(rows, sampler=None, shuffle=True)


def by_an_option(rows, own, args):
    if args.weighted:
        sampler = torch.utils.data.WeightedRandomSampler(own, 9)
    else:
        sampler = None
    return DataLoader(rows, sampler=sampler, shuffle=True)  # finds sampler_excludes_shuffle


def in_two_branches(rows, own, args):
    if args.weighted:
        sampler = torch.utils.data.WeightedRandomSampler(own, 9)
        return DataLoader(rows, sampler=sampler)
    sampler = None
    return DataLoader(rows, sampler=sampler, shuffle=True)
