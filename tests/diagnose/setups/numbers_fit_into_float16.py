import torch

from tests.diagnose.trainers import Net, rows, trainer


def activations_are_large():
    x, y = rows().tensors
    dataset = torch.utils.data.TensorDataset(1e6 * x, y)
    return trainer(loader=torch.utils.data.DataLoader(dataset, batch_size=16))


def gradients_are_small():
    loss_fn = torch.nn.CrossEntropyLoss()
    return trainer(model=Net(), loss_fn=lambda output, y: 1e-8 * loss_fn(output, y))


OUTCOMES = [[trainer], [activations_are_large], [gradients_are_small]]
