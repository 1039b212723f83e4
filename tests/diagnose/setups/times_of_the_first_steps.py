import torch

from tests.diagnose.trainers import Net, NewShapes, clock, rows, trainer


class Remembers(Net):
    def __init__(self):
        super().__init__()
        self.history = []

    def forward(self, x):
        self.history.append(x)
        clock.sleep(0.002 * len(self.history) ** 2)
        return super().forward(x)


def _loader(batch_size=4):
    return torch.utils.data.DataLoader(rows(66), batch_size=batch_size)


def healthy():
    return trainer(loader=_loader())


def new_shapes():
    return trainer(model=NewShapes(seconds=0.15), loader=_loader())


def history_grows():
    return trainer(model=Remembers(), loader=_loader())


OUTCOMES = [[healthy], [history_grows], [new_shapes]]
