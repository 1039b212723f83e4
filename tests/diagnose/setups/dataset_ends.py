import torch

from tests.diagnose.trainers import rows, trainer


class Modulo(torch.utils.data.TensorDataset):
    def __getitem__(self, index):
        return super().__getitem__(index % len(self))


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        while True:
            yield from rows()


def index_is_taken_modulo():
    dataset = Modulo(*rows().tensors)
    return trainer(loader=torch.utils.data.DataLoader(dataset, batch_size=16))


def endless_stream():
    return trainer(loader=torch.utils.data.DataLoader(Stream(), batch_size=16))


OUTCOMES = [[trainer], [index_is_taken_modulo], [endless_stream]]
