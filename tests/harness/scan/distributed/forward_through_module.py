import torch
from torch.nn.parallel import DistributedDataParallel


def trains(net, loader, criterion):
    model = DistributedDataParallel(net)
    for x, y in loader:
        output = model.module(x)  # finds forward_through_module
        loss = criterion(output, y)
        loss.backward()


def trains_at_once(model, x):
    model.module(x).sum().backward()  # finds forward_through_module


def validates(model, x, y, criterion):
    with torch.no_grad():
        output = model.module(x)
    criterion(model(x), y).backward()
    return output


def attends(self, x):
    output = self.module(x)
    output.sum().backward()
