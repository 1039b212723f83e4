import torch

from tests.diagnose.trainers import Net, rows, trainer


def _regression(shape, model):
    dataset = rows()
    dataset.tensors = (dataset.tensors[0], torch.randn(64, *shape))
    loader = torch.utils.data.DataLoader(dataset, batch_size=16)
    return trainer(model=model, loader=loader, loss_fn=torch.nn.MSELoss())


def _one_output():
    model = Net()
    model.head = torch.nn.Linear(32, 1)
    return model


def regression():
    return _regression((1,), _one_output())


def target_is_flat():
    return _regression((), _one_output())


def output_is_flat():
    model = _one_output()
    model.head = torch.nn.Sequential(model.head, torch.nn.Flatten(0))
    return _regression((1,), model)


def target_lacks_a_dimension():
    return _regression((4,), torch.nn.Sequential(Net(), torch.nn.Unflatten(1, (4, 1))))


OUTCOMES = [[trainer, regression], [target_is_flat], [output_is_flat, target_lacks_a_dimension]]
