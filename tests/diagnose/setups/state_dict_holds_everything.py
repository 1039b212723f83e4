import torch

from tests.diagnose.trainers import Net, trained


class Projected(Net):
    def __init__(self):
        super().__init__()
        self.projection = torch.randn(8, 8)

    def forward(self, x):
        return super().forward(x @ self.projection)


class Listed(Net):
    def __init__(self):
        super().__init__()
        self.layers = [torch.nn.Linear(8, 8)]

    def forward(self, x):
        return super().forward(self.layers[0](x))


class Drops(Net):
    def forward(self, x):
        return super().forward(torch.nn.functional.dropout(x, 0.5))


def _trained(make_model):
    return trained(model=make_model(), make_model=make_model)


def plain_tensor():
    return _trained(Projected)


def layer_in_a_list():
    return _trained(Listed)


def functional_dropout():
    return _trained(Drops)


OUTCOMES = [[trained], [plain_tensor, layer_in_a_list], [functional_dropout]]
