import torch

from tests.diagnose.trainers import Net, trainer


def _net(norm=None):
    model = Net()
    model.body[1] = norm or torch.nn.LayerNorm(32)
    return model


def layer_norm():
    return trainer(model=_net())


def dropout():
    return trainer(model=_net(torch.nn.Dropout()))


def loss_is_a_sum():
    return trainer(model=_net(), loss_fn=torch.nn.CrossEntropyLoss(reduction="sum"))


def labels_are_ignored():
    def loss_fn(output, y):
        y = y.clone()
        y[: len(y) // 2 - 1] = -100
        return torch.nn.functional.cross_entropy(output, y)

    return trainer(model=_net(), loss_fn=loss_fn)


OUTCOMES = [[layer_norm], [trainer, dropout], [loss_is_a_sum, labels_are_ignored]]
