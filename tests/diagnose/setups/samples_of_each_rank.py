import torch

from tests.diagnose.trainers import rows, trainer

RANKS = 2


def _sampler(dataset, **options):
    sampler = torch.utils.data.distributed.DistributedSampler(dataset, **options)
    loader = torch.utils.data.DataLoader(dataset, batch_size=16, sampler=sampler)
    return trainer(loader=loader)


def distributed():
    return _sampler(rows())


def same_part_on_each_rank():
    return _sampler(rows(), num_replicas=2, rank=0)


def divided_by_four():
    return _sampler(rows(), num_replicas=4, rank=torch.distributed.get_rank())


OUTCOMES = [[distributed], [trainer, same_part_on_each_rank], [divided_by_four]]
