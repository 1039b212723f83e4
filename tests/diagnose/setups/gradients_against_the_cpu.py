import torch

from tests.diagnose.trainers import Net, trainer


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad if grad.dtype == torch.float64 else grad.flip(0)  # as a wrong kernel


class Backward(Net):
    def forward(self, x):
        return self.head(Wrong.apply(self.body(x)))


def backward_is_wrong():
    return trainer(model=Backward())


OUTCOMES = [[trainer], [backward_is_wrong]]
