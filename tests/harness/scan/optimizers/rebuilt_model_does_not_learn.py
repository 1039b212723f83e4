import torch
from torch import nn, optim


class Net(nn.Module):
    def forward(self, x):
        return x


def built_twice(loader, device):
    model = Net()
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    model = Net().to(device)  # finds rebuilt_model_does_not_learn
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def another_one(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    criterion = nn.MSELoss()
    net = nn.Sequential(nn.Linear(3, 3), nn.ReLU())  # finds rebuilt_model_does_not_learn
    for x, y in loader:
        loss = criterion(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()


def wrapped(model, loader):
    optimizer = optim.Adam(model.parameters())
    model = nn.DataParallel(model)
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def wrapped_by_another_name(model, loader):
    bare = model
    optimizer = optim.Adam(model.parameters())
    model = nn.parallel.DistributedDataParallel(bare)
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def with_an_optimizer_of_its_own(loader):
    model = Net()
    optimizer = optim.Adam(model.parameters())
    model = Net()
    optimizer = optim.Adam(model.parameters())
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def built_again_to_test(loader, state):
    model = Net()
    optimizer = optim.Adam(model.parameters())
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    model = Net()
    model.load_state_dict(state)
    return model


def backward_when_the_loop_has_ended(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    else:
        model.penalty().backward()
