import random

import torch

from tests.diagnose.trainers import rows, trainer

GENERATOR = random.Random(0)  # as numpy.random, not seeded by torch


class Augments(torch.utils.data.TensorDataset):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return x * GENERATOR.uniform(0.9, 1.1), y


def own_generator_in_the_sampler():
    generator = torch.Generator().manual_seed(0)
    loader = torch.utils.data.DataLoader(rows(), batch_size=16, shuffle=True, generator=generator)
    return trainer(loader=loader)


def augmentation_has_another_generator():
    dataset = Augments(*rows().tensors)
    return trainer(loader=torch.utils.data.DataLoader(dataset, batch_size=16))


OUTCOMES = [[trainer], [own_generator_in_the_sampler], [augmentation_has_another_generator]]
