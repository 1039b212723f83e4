import torch

from tests.diagnose.trainers import Net, trainer


class ReadsMemory(Net):
    def forward(self, x):
        return super().forward(torch.as_strided(x, x.shape, (8, 1)))  # as a wrong kernel


class Transposed(Net):
    def forward(self, x):
        weight = torch.as_strided(self.head.weight, (4, 32), (32, 1))  # as a wrong kernel
        return torch.nn.functional.linear(self.body(x), weight, self.head.bias)


def input_is_not_contiguous():
    return trainer(model=ReadsMemory())


def weight_is_not_contiguous():
    model = Transposed()
    model.head.weight = torch.nn.Parameter(model.head.weight.detach().T.contiguous().T)
    return trainer(model=model)


OUTCOMES = [[trainer], [input_is_not_contiguous, weight_is_not_contiguous]]
