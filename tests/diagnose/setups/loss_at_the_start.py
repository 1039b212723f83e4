import torch

from tests.diagnose.trainers import Net, rows, trained, trainer


def inputs_are_not_scaled():
    dataset = rows()
    dataset.tensors = (1000 * dataset.tensors[0], dataset.tensors[1])
    model = Net()
    model.body[1] = torch.nn.Identity()
    return trainer(model=model, loader=torch.utils.data.DataLoader(dataset, batch_size=16))


def loss_is_a_sum():
    return trainer(loss_fn=torch.nn.CrossEntropyLoss(reduction="sum"))


def one_output():
    model = Net()
    model.head = torch.nn.Linear(32, 1)
    dataset = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.zeros(64).long())
    return trainer(model=model, loader=torch.utils.data.DataLoader(dataset, batch_size=16))


def already_trained():
    return trained()


def divided():
    loss_fn = torch.nn.CrossEntropyLoss()
    return trainer(loss_fn=lambda output, y: loss_fn(output, y) / 8)


def probabilities():
    return trainer(loss_fn=lambda output, y: torch.nn.functional.nll_loss(output.softmax(1), y))


def nan_in_the_data():
    x, y = rows().tensors
    x[:, 3] = (x[:, 3] - x[:, 3]) / 0
    dataset = torch.utils.data.TensorDataset(x, y)
    return trainer(loader=torch.utils.data.DataLoader(dataset, batch_size=16))


OUTCOMES = [
    [trainer],
    [inputs_are_not_scaled, loss_is_a_sum],
    [one_output],
    [already_trained, divided],
    [probabilities, nan_in_the_data],
]
