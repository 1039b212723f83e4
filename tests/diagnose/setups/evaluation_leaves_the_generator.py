import torch

from tests.diagnose.trainers import rows, trainer


def generator_of_its_own():
    loader = torch.utils.data.DataLoader(rows(), batch_size=16, generator=torch.Generator())
    return trainer(val_loader=loader)


OUTCOMES = [[generator_of_its_own], [trainer]]
