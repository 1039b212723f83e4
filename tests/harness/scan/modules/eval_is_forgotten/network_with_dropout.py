import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(4, 1))

    def forward(self, x):
        return self.head(x)


def trains(train_loader, val_loader, criterion):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in train_loader:
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        for x, _ in val_loader:
            print(model(x))  # finds eval_is_forgotten
