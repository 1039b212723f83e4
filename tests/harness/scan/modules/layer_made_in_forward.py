import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 8)

    def forward(self, x):
        x = self.body(x)
        x = nn.Linear(8, 4)(x)  # finds layer_made_in_forward
        head = nn.Conv1d(4, 2, 1)  # finds layer_made_in_forward
        return nn.ReLU()(head(x))


class Lazy(nn.Module):
    def forward(self, x):
        if self.head is None:
            self.head = nn.Linear(x.shape[1], 4)
        return self.head(x)


class Fixed(nn.Module):
    def forward(self, x):
        blur = nn.Conv2d(3, 3, 3, bias=False)
        blur.weight.data = self.kernel
        return blur(x)


class Builder:
    def forward(self, x):
        return nn.Linear(8, 4)


class Residual(nn.Module):
    def forward(self, x, y):
        if x.shape[1] != y.shape[1]:
            x = nn.Conv2d(3, 8, 1)(x)  # finds layer_made_in_forward
        return x + y
