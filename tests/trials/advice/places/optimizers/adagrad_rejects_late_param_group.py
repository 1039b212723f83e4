"""A backbone that is trained from the third batch on, compared with Adagrad written out.

On two ranks it is wrapped before.
"""

import torch
from torch.nn.parallel import DistributedDataParallel

from tests.trials.advice.trainers import on_ranks

SETTINGS = ("plain", "short last batch", "two ranks")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone, self.head = torch.nn.Linear(6, 8), torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.head(torch.relu(self.backbone(x)))


def step(t, model, update, rows, number):
    x, y = (part[rows] for part in t.batches[number])
    model.zero_grad()
    t.loss(model(x), y).backward()
    update()


def with_lines(t, net, model, rows=slice(None)):
    head, backbone = net.head, net.backbone
    optimizer = torch.optim.Adagrad(head.parameters())
    for number in range(5):
        if number == 2:
            paste
        step(t, model, optimizer.step, rows, number)
    return net.state_dict()


def place(t):
    net = t.model = t.watched(Net())
    if t.setting.ranks == 1:
        return [with_lines(t, net, net)]

    def on_a_rank(rank):
        return with_lines(t, net, DistributedDataParallel(net), slice(rank, None, 2))

    return on_ranks(on_a_rank)


def reference(t):
    net = t.model = t.watched(Net())
    sums = [torch.zeros_like(parameter) for parameter in net.parameters()]

    for number in range(5):
        layers = [net.backbone, net.head] if number >= 2 else [net.head]
        trained = {id(parameter) for layer in layers for parameter in layer.parameters()}

        def update(trained=trained):
            with torch.no_grad():
                for parameter, total in zip(net.parameters(), sums):
                    if id(parameter) in trained:
                        total += parameter.grad.square()
                        parameter -= 0.01 * parameter.grad / (total.sqrt() + 1e-10)

        step(t, net, update, slice(None), number)
    if t.setting.ranks > 1:
        t.got_gradient.clear()  # here the ranks are other processes
    return [net.state_dict()] * t.setting.ranks
