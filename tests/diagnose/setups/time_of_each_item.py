import torch

from tests.diagnose.trainers import clock, rows, trainer


class Slow(torch.utils.data.TensorDataset):
    slow = ()

    def __getitem__(self, index):
        clock.sleep(0.15 if index in self.slow else self.usual)
        return super().__getitem__(index)


def _trainer(usual, slow):
    dataset = Slow(*rows().tensors)
    dataset.usual, dataset.slow = usual, slow
    return trainer(loader=torch.utils.data.DataLoader(dataset, batch_size=16))


def one_item_is_slow():
    return _trainer(0.0001, {7})


def all_items_are_slow():
    return _trainer(0.006, ())


OUTCOMES = [[trainer], [one_item_is_slow], [all_items_are_slow]]
