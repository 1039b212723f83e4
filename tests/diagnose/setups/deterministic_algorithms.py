import torch

from tests.diagnose.trainers import Net, trainer


class Scatters(Net):
    def forward(self, x):
        output = super().forward(x)
        index = torch.zeros(1, dtype=torch.long)
        return output.put(index, output.new_ones(1), accumulate=False)


def operation_without_a_deterministic_version():
    return trainer(model=Scatters())


OUTCOMES = [[trainer], [operation_without_a_deterministic_version]]
