import torch

from tests.diagnose.trainers import Net, trainer


class HalfPrecision(Net):
    def forward(self, x):
        if x.dtype == torch.float64:
            return super().forward(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return super().forward(x).float()


class OverTheBatch(Net):
    def forward(self, x):
        return super().forward(x).softmax(dim=0)


class Noisy(Net):
    def forward(self, x):
        return super().forward(x + torch.randn_like(x))


def half_precision():
    return trainer(model=HalfPrecision())


def over_the_batch():
    return trainer(model=OverTheBatch())


def noisy():
    return trainer(model=Noisy())


OUTCOMES = [[trainer], [half_precision], [over_the_batch, noisy]]
