import torch

from tests.diagnose.trainers import rows, trainer


def _with(**options):
    return trainer(loader=torch.utils.data.DataLoader(rows(), batch_size=16, **options))


def _sampler():
    return torch.utils.data.distributed.DistributedSampler(rows(), num_replicas=2, rank=0)


def with_set_epoch():
    sampler = _sampler()
    sampler.set_epoch(1)
    return _with(sampler=sampler)


def without_set_epoch():
    return _with(sampler=_sampler())


def not_shuffled():
    return _with()


OUTCOMES = [[trainer, with_set_epoch], [without_set_epoch], [not_shuffled]]
