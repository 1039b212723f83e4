import torch

from tests.diagnose.trainers import Net, rows, trained, trainer


def _validation(change):
    x, y = rows().tensors
    dataset = torch.utils.data.TensorDataset(x, change(y))
    return trained(val_loader=torch.utils.data.DataLoader(dataset, batch_size=16))


def class_numbers_differ():
    return _validation(lambda y: (y + 1) % 4)


def not_trained():
    return trainer()


def one_class_in_validation():
    return _validation(lambda y: torch.full_like(y, 7))


def relu_outputs_zeros():
    model = Net()
    model.body[2].forward = lambda x: (x - 100).relu()
    return trained(model=model)


OUTCOMES = [
    [trained],
    [relu_outputs_zeros],
    [class_numbers_differ, not_trained],
    [one_class_in_validation],
]
