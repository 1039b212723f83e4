import torch

from tests.diagnose.trainers import rows, trained

RANKS = 2


def _distributed(count, reduces):
    names = trained()
    dataset = rows(count)
    dataset.tensors[1][:9:2] = 0  # so that the accuracies of the parts differ
    sampler = torch.utils.data.distributed.DistributedSampler(dataset, shuffle=False)
    loader = torch.utils.data.DataLoader(dataset, batch_size=16, sampler=sampler)

    def evaluate(model, loader):
        value = torch.tensor(names["evaluate"](model, loader))
        if reduces:
            torch.distributed.all_reduce(value)
            value /= 2
        return value

    return names | {"val_loader": loader, "evaluate": evaluate}


def reduced():
    return _distributed(64, True)


def each_its_own_part():
    return _distributed(64, False)


def padded():
    return _distributed(63, True)


OUTCOMES = [[trained, reduced], [each_its_own_part], [padded]]
