import copy

import torch

from tests.diagnose.trainers import Net, trainer


def _dropout():
    model = Net()
    model.body[2] = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Dropout(0.5))
    return model


class Drops(Net):
    def forward(self, x):
        return super().forward(torch.nn.functional.dropout(x, 0.5))


def exported_in_train_mode():
    model = _dropout()
    return trainer(model=model, exported=copy.deepcopy(model).train())


def functional_dropout():
    return trainer(model=Drops())


OUTCOMES = [[trainer], [exported_in_train_mode], [functional_dropout]]
