import torch

from tests.diagnose.trainers import Net, rows, trainer


class Scaled(Net):
    def forward(self, x):
        return super().forward(x) * torch.ones(4, dtype=torch.float64)


def model_is_float64():
    x, y = rows().tensors
    dataset = torch.utils.data.TensorDataset(x.double(), y)
    loader = torch.utils.data.DataLoader(dataset, batch_size=16)
    return trainer(model=Net().double(), loader=loader)


def constant_in_forward():
    return trainer(model=Scaled())


def class_weights_are_float64():
    weights = torch.ones(4, dtype=torch.float64)
    return trainer(
        loss_fn=lambda output, y: (torch.nn.functional.cross_entropy(output, y) * weights).mean()
    )


OUTCOMES = [[trainer], [model_is_float64], [constant_in_forward, class_weights_are_float64]]
