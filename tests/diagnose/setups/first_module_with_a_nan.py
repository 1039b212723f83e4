import torch

from tests.diagnose.trainers import Net, rows, trainer


class Distance(Net):
    def forward(self, x):
        output = super().forward(x)
        same = output - output.detach()
        return output + same.square().sum(1, keepdim=True).sqrt()


class Unit(Net):
    def forward(self, x):
        hidden = self.body(x)
        return self.head(hidden / hidden.norm(dim=1, keepdim=True))


def gradient_of_sqrt_at_zero():
    return trainer(model=Distance())


def steps_are_too_large():
    model = Net()
    return trainer(
        model=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=1e38),
        loss_fn=torch.nn.CrossEntropyLoss(reduction="sum"),
    )


def norm_of_zero():
    model = Unit()
    model.body[2].forward = lambda x: (x - 100).relu()
    return trainer(model=model)


def inputs_are_nan():
    x, y = rows().tensors
    x[0] = float("nan")
    dataset = torch.utils.data.TensorDataset(x, y)
    return trainer(loader=torch.utils.data.DataLoader(dataset, batch_size=16))


def all_labels_are_ignored():
    x, y = rows().tensors
    dataset = torch.utils.data.TensorDataset(x, torch.full_like(y, -100))
    return trainer(loader=torch.utils.data.DataLoader(dataset, batch_size=16))


def log_of_a_softmax():
    def loss_fn(output, y):
        return torch.nn.functional.nll_loss((1000 * output).softmax(1).log(), y)

    return trainer(loss_fn=loss_fn)


OUTCOMES = [
    [trainer],
    [gradient_of_sqrt_at_zero, steps_are_too_large],
    [norm_of_zero, inputs_are_nan],
    [all_labels_are_ignored, log_of_a_softmax],
]
