import torch

from tests.diagnose.trainers import clock, rows, trainer


class Prepares(torch.utils.data.SequentialSampler):
    """A sampler that needs 2 s before the first index of each epoch, or only of the first."""

    def __init__(self, dataset, epochs):
        super().__init__(dataset)
        self.epochs = epochs

    def __iter__(self):
        if self.epochs:
            self.epochs -= 1
            clock.sleep(2)
        return super().__iter__()


def _trainer(epochs):
    dataset = rows()
    sampler = Prepares(dataset, epochs)
    return trainer(loader=torch.utils.data.DataLoader(dataset, batch_size=16, sampler=sampler))


def each_epoch_prepares():
    return _trainer(9)


def the_first_epoch_prepares():
    return _trainer(1)


OUTCOMES = [[trainer], [each_epoch_prepares], [the_first_epoch_prepares]]
