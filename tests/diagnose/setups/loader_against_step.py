import torch

from tests.diagnose.trainers import Net, clock, rows, trainer


class Slow(torch.utils.data.TensorDataset):
    def __getitem__(self, index):
        clock.sleep(0.003)
        return super().__getitem__(index)


class LargeNet(Net):
    def forward(self, x):
        clock.sleep(0.02)
        return super().forward(x)


def step_is_slow():
    return trainer(model=LargeNet())


def items_are_slow():
    return trainer(loader=torch.utils.data.DataLoader(Slow(*rows().tensors), batch_size=16))


OUTCOMES = [[step_is_slow], [items_are_slow]]
