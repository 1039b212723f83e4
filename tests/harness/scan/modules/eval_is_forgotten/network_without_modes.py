import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(2, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.lstm(x)[0])


def trains(train_loader, val_loader, criterion):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in train_loader:
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        return [model(x) for x, y in val_loader], validates(model, val_loader)


@torch.no_grad()
def validates(model, val_loader):
    outputs = []
    for x, _ in val_loader:
        outputs.append(model(x))
    return outputs
