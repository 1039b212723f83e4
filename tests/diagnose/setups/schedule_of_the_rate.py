import torch

from tests.diagnose.trainers import trainer


def _schedule(make, optimizer=None):
    names = trainer()
    return names | {"scheduler": make(optimizer or names["optimizer"])}


def cosine_per_epoch():
    return _schedule(lambda optimizer: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 30))


def decays_per_batch():
    return _schedule(lambda optimizer: torch.optim.lr_scheduler.StepLR(optimizer, 5, gamma=0.1))


def cosine_over_all_batches():
    return _schedule(
        lambda optimizer: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100_000)
    )


def of_another_optimizer():
    other = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.01)
    return _schedule(lambda it: torch.optim.lr_scheduler.CosineAnnealingLR(it, 30), other)


OUTCOMES = [
    [cosine_per_epoch],
    [decays_per_batch],
    [cosine_over_all_batches],
    [of_another_optimizer],
]
