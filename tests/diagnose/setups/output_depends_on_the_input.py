import torch

from tests.diagnose.trainers import Net, trainer


class Recurrent(Net):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.LSTM(1, 32)

    def forward(self, x):
        return self.head(self.body(x.unsqueeze(-1))[0][:, -1])


def batch_first_is_forgotten():
    return trainer(model=Recurrent())


def softmax_over_the_batch():
    model = Net()
    model.body[2] = torch.nn.Softmax(dim=0)
    return trainer(model=model)


def relu_outputs_zeros():
    model = Net()
    model.body[2].forward = lambda x: (x - 100).relu()
    return trainer(model=model)


def relu_at_the_end():
    model = Net()
    with torch.no_grad():
        model.head.bias.fill_(-10)
    model.head = torch.nn.Sequential(model.head, torch.nn.ReLU())
    return trainer(model=model)


OUTCOMES = [
    [trainer],
    [batch_first_is_forgotten, softmax_over_the_batch],
    [relu_outputs_zeros, relu_at_the_end],
]
